// A network with every family and hardly any width, for files that are mutated by the thousand.
#pragma once

#include <memory>

#include "tests/law/network_fixture.h"

namespace psn::test {

inline std::shared_ptr<Network> tiny_network(Addressing addressing) {
  NetworkConfig config = small_config(addressing);
  config.core_dim = 5;
  config.sample_embedding_dim = 3;
  config.transition_hidden_dim = 4;
  config.variable_layers = {2, 3};
  config.variable_embedding["gamma"] = {1, 3};
  return network_of(all_families(), {.config = config});
}

}  // namespace psn::test
