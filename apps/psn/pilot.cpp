#include "apps/psn/pilot.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "psn/base/error.h"
#include "psn/base/text.h"
#include "psn/infer/importance.h"

namespace psn::app {
namespace {

std::string list(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 40;
  const std::span<const std::string> shown(names.data(), std::min(names.size(), kShown));
  if (names.empty()) return "nothing";
  return fmt::format("{}{}", fmt::join(shown, ", "), names.size() > kShown ? ", ..." : "");
}

}  // namespace

Pilot::Pilot(Simulator& simulator, const Parallelism& parallelism, std::size_t max_length,
             Monitor* monitor) {
  constexpr std::uint64_t kTraces = 100;
  constexpr auto kLongest = std::chrono::milliseconds(10'000);
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t round = 1; traces_ < kTraces; round = kTraces - traces_) {
    std::vector<Trace> traces(round);
    // A seed of its own: what is asked by default must not depend on the user's.
    const RunOptions options{.seed = traces_, .max_length = max_length, .monitor = monitor};
    run_traces(
        simulator, round, prior_guide(),
        [&](std::uint64_t i, Trace& trace) { std::swap(traces[i], trace); }, options, parallelism);
    for (const Trace& trace : traces) add(traces_++, trace);
    if (std::chrono::steady_clock::now() - start > kLongest / (traces_ == 1 ? kTraces : 1)) break;
  }
  if (monitor) monitor->traces.store(0);
}

void Pilot::add(std::uint64_t index, const Trace& trace) {
  for (const Entry& entry : trace.entries) {
    const Variable& variable = *entry.address->variable;
    if (variable.name.empty() || entry.role == Role::kFactor) continue;
    Seen& seen = seen_
                     .try_emplace(variable.name,
                                  Seen{entry.role, entry.value.shape(), variable.site->name,
                                       variable.index, 0, ~std::uint64_t{0}, 0, seen_.size()})
                     .first->second;
    if (seen.last_trace != index) ++seen.traces;
    seen.most = std::max(seen.most, entry.address->instance);
    seen.last_trace = index;
  }
}

std::vector<std::string> Pilot::names(bool observed) const {
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const auto& [name, seen] : seen_) {
    if ((seen.role == Role::kObserve) == observed) found.emplace_back(seen.order, name);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> names;
  for (auto& [order, name] : found) names.push_back(std::move(name));
  return names;
}

void Pilot::check(const Observations& observations) const {
  for (const auto& [name, value] : observations.values()) {
    std::size_t taken = 0;  // how many values the model's sites take from it
    Shape shape;
    for (const auto& [seen_name, seen] : seen_) {
      if (seen.role != Role::kObserve) continue;
      if (seen_name == name) {
        shape = seen.shape;
        taken = std::max(taken, element_count(shape) * seen.most);
        if (value.size() == element_count(shape)) taken = value.size();
      } else if (seen.index && seen.site_name == name) {
        taken = std::max(taken, static_cast<std::size_t>(*seen.index) + 1);
      }
    }
    if (taken == 0) {
      throw InvalidArgument(fmt::format(
          "no site of the model takes the observation '{}'{}; it observes: {}; its latents: {}",
          name, suggestion(name, names(true)), list(names(true)), list(names(false))));
    }
    if (value.size() > taken || (!shape.empty() && value.size() != taken)) {
      throw InvalidArgument(fmt::format("observation '{}' has {} values, but the model takes {}",
                                        name, value.size(), taken));
    }
  }
}

std::vector<Query> Pilot::queries(const std::vector<std::string>& wanted) const {
  std::vector<Query> result;
  for (const std::string& name : wanted) {
    const auto found = seen_.find(name);
    if (found == seen_.end()) {
      const auto known = names(false);
      throw InvalidArgument(fmt::format("--query '{}': the model has no variable of that name{}; "
                                        "it has: {}",
                                        name, suggestion(name, known), list(known)));
    }
    result.push_back({name, found->second.shape});
  }
  return result;
}

std::vector<Query> Pilot::default_queries() const {
  std::vector<Query> result;
  for (const std::string& name : names(false)) {
    const Seen& seen = seen_.at(name);
    if (seen.traces == traces_) result.push_back({name, seen.shape});
  }
  return result;
}

}  // namespace psn::app
