#include "psn/services/inference_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "psn/base/error.h"
#include "psn/core/run.h"
#include "psn/nn/network_file.h"
#include "psn/nn/run/course.h"
#include "psn/ppx/remote.h"
#include "psn/services/course_json.h"
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
          if (entry.role != Role::kObserve) continue;
          observed.insert(entry.address->text);
          observed.insert(entry.address->variable->site->text);  // as lists are known
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

// A seldom branch may be in none of the runs that were held out.
bool has_all_latents(const Course& course, const Network& network) {
  AddressTable table;
  std::set<NodeId> known;
  for (const CourseStep& step : course.steps) {
    const Address& address = *table.address(table.variable(step.key()), step.instance);
    if (const auto node = network.find(address)) known.insert(*node);
  }
  for (NodeId id = Network::kEnd + 1; id < network.size(); ++id) {
    if (!network.is_observation(id) && !known.contains(id)) return false;
  }
  return true;
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

bool is_inference_network(const std::string& model) {
  if (ppx::is_remote(model) || !model.ends_with(".psn")) return false;
  return load_network(model).network->infers();
}

std::unique_ptr<Simulator> open_course(const std::string& path, const Observations& observations) {
  const NetworkFile file = load_network(path);
  std::optional<Course> course = course_in(file.history);
  if (!course) course = Course{{}, "the file does not tell what choices its model makes"};
  if (course->problem.empty() && !has_all_latents(*course, *file.network)) {
    course->problem = "some runs of its training made choices that others did not";
  }
  if (!course->problem.empty()) {
    throw InvalidArgument(fmt::format(
        "the inference network '{}' cannot answer without its model: {}. Give the model or its "
        "surrogate instead, and this as `network` with `engine` network",
        path, course->problem));
  }
  return std::make_unique<CourseSimulator>(path, std::move(*course), file.network, observations);
}

}  // namespace psn::services
