#include "psn/services/run_report.h"

#include "psn/attach/simulator.h"
#include "psn/io/tensor_file.h"
#include "psn/nn/network_file.h"
#include "psn/nn/run/surrogate.h"
#include "psn/nn/steps.h"
#include "psn/ppx/remote.h"
#include "psn/services/ranks.h"
#include "psn/services/training_history.h"

namespace psn::services {
namespace {

// nullptr: not a surrogate that falls back.
SurrogateSimulator* falling_back(Simulator& simulator) {
  auto* surrogate = dynamic_cast<SurrogateSimulator*>(&simulator);
  return surrogate && surrogate->options().simulator ? surrogate : nullptr;
}

std::optional<Fallbacks> all_fallbacks(Simulator& simulator, Communicator& ranks) {
  auto* surrogate = falling_back(simulator);
  if (!surrogate) return std::nullopt;
  double counts[] = {static_cast<double>(surrogate->fallbacks().taken),
                     static_cast<double>(surrogate->fallbacks().refused)};
  ranks.sum(counts);
  return Fallbacks{surrogate->options().simulator->name(), static_cast<std::uint64_t>(counts[0]),
                   static_cast<std::uint64_t>(counts[1])};
}

bool is_learned_tag(const Network& network, const std::string& name) {
  const auto indexed = split_index(name);
  for (NodeId id = Network::kEnd + 1; id < network.size(); ++id) {
    const Node& node = network.node(id);
    if (!is_derived(node)) continue;
    if (node.name == name || node.text == name) return true;
    if (network.shares_indices() && indexed && node.name == indexed->name) return true;
  }
  return false;
}

}  // namespace

void forget_fallbacks(Simulator& simulator) {
  if (auto* surrogate = falling_back(simulator)) {
    surrogate->fallbacks().taken = 0;
    surrogate->fallbacks().refused = 0;
  }
}

std::optional<SurrogateQuality> surrogate_quality(const std::string& model) {
  if (ppx::is_remote(model) || !model.ends_with(".psn")) return std::nullopt;
  const TensorFile file = TensorFile::load(model, kNetworkFileKind, kNetworkFileVersion);
  return SurrogateQuality{held_out_kl(file.metadata.at("history"))};
}

Failures all_failures(const Simulator& simulator, Host& host, const Failures& earlier) {
  Failures failures = joined(host.ranks(), simulator.failures());
  failures.runs += earlier.runs;
  for (const auto& [cause, count] : earlier.by_cause) failures.by_cause[cause] += count;
  if (failures.last.empty()) failures.last = earlier.last;
  return failures;
}

RunReport report_on(Simulator& simulator, Host& host, const Failures& earlier) {
  RunReport report;
  report.fallbacks = all_fallbacks(simulator, host.ranks());
  report.failures = all_failures(simulator, host, earlier);
  if (const auto* attached = dynamic_cast<const attach::AttachedSimulator*>(&simulator)) {
    report.started_anew = attached->limits();
  }
  return report;
}

std::vector<std::string> learned_tags(const Simulator& simulator,
                                      const std::vector<std::string>& names) {
  const auto* surrogate = dynamic_cast<const SurrogateSimulator*>(&simulator);
  std::vector<std::string> learned;
  if (!surrogate) return learned;
  for (const std::string& name : names) {
    if (is_learned_tag(surrogate->network(), name)) learned.push_back(name);
  }
  return learned;
}

}  // namespace psn::services
