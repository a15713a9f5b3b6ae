// Origin: what the traces of a store, or of one of the stores that were merged into it, are.
#pragma once

#include <cstdint>
#include <string>

namespace psn::data {

// Traces 0 to `traces` - 1 of the streams that a seed gives a model.
struct Origin {
  std::string model;
  std::uint64_t seed = 0;
  std::uint64_t traces = 0;  // of a store that was merged; 0: all of its traces

  friend bool operator==(const Origin&, const Origin&) = default;
};

}  // namespace psn::data
