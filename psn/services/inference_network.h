// A trained inference network from its file, for a model at hand.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "psn/core/ensemble.h"
#include "psn/core/observations.h"
#include "psn/nn/run/executor.h"
#include "psn/services/run_report.h"

namespace psn::services {

// Throws DataError for a bad file, InvalidArgument if it holds a surrogate, or a network for
// another model: the message names the first address that differs.
struct InferenceNetwork {
  std::shared_ptr<const CompiledNetwork> network;
  std::optional<RemoteObservation> remote;  // nullopt: not known
};
InferenceNetwork load_inference_network(const std::string& path, Simulator& simulator,
                                        std::size_t max_length);

// Is it a file with an inference network? Throws DataError for a file .psn that cannot be read.
bool is_inference_network(const std::string& model);

// The network's model, as far as the network's answer needs one. Throws InvalidArgument, saying
// what to give instead, if the program has branches or the file does not tell.
std::unique_ptr<Simulator> open_course(const std::string& path, const Observations& observations);

}  // namespace psn::services
