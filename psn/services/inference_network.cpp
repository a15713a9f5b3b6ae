#include "psn/services/inference_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "psn/base/error.h"
#include "psn/core/run.h"
#include "psn/nn/network_file.h"
#include "psn/services/training_history.h"

namespace psn::services {
namespace {

// A few runs: each must begin with a choice that the network knows, and the network's observations
// must be the model's.
void check_fits(const Network& network, const std::string& path, Simulator& simulator,
                std::size_t max_length) {
  constexpr std::uint64_t kRuns = 10;
  std::set<std::string> observed;
  run_traces(
      simulator, kRuns, [] { return std::make_unique<PriorGuide>(); },
      [&](std::uint64_t, Trace& trace) {
        const auto first =
            std::find_if(trace.entries.begin(), trace.entries.end(), [](const Entry& entry) {
              return entry.role == Role::kSample && entry.control &&
                     has_proposal(*entry.distribution);
            });
        if (first != trace.entries.end() && !network.find(*first->address)) {
          throw InvalidArgument(fmt::format("'{}' was trained for another model: '{}' has '{}'",
                                            path, simulator.name(), first->address->text));
        }
        for (const Entry& entry : trace.entries) {
          if (entry.role == Role::kObserve) observed.insert(entry.address->text);
        }
      },
      {.max_length = max_length,
       .keep_distributions = true,
       .failed = [](std::uint64_t) {}},  // the others will do
      {1, 1});
  for (NodeId id = Network::kEnd + 1; id < network.size(); ++id) {
    if (!network.is_observation(id) || network.node(id).may_be_missing) continue;
    if (observed.contains(network.node(id).text)) continue;
    throw InvalidArgument(
        fmt::format("'{}' was trained for another model: '{}' has no observation '{}'", path,
                    simulator.name(), network.node(id).text));
  }
}

}  // namespace

InferenceNetwork load_inference_network(const std::string& path, Simulator& simulator,
                                        std::size_t max_length) {
  const NetworkFile file = load_network(path);
  const auto& network = file.network;
  if (!network->infers()) {
    throw InvalidArgument(fmt::format(
        "`network` '{}' is a surrogate; 'psn train inference' makes what is needed", path));
  }
  check_fits(*network, path, simulator, max_length);
  return {std::make_shared<const CompiledNetwork>(network), remote_observation(file.history)};
}

}  // namespace psn::services
