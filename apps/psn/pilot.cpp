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

const std::string kResult = "result";

std::string comma_list(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 40;
  const std::span<const std::string> shown(names.data(), std::min(names.size(), kShown));
  if (names.empty()) return "nothing";
  return fmt::format("{}{}", fmt::join(shown, ", "), names.size() > kShown ? ", ..." : "");
}

}  // namespace

Pilot::Pilot(Simulator& simulator, const Parallelism& parallelism, const RunOptions& options,
             const std::vector<std::string>& wanted_names) {
  constexpr auto kLongest = std::chrono::milliseconds(10'000);
  const auto start = std::chrono::steady_clock::now();
  for (const std::uint64_t until : {1, 100, 1'000, 10'000}) {
    const auto spent = std::chrono::steady_clock::now() - start;
    const bool affordable =
        spent * (until - traces_) < kLongest * std::max<std::uint64_t>(1, traces_);
    const bool complete = std::all_of(wanted_names.begin(), wanted_names.end(),
                                      [&](const auto& name) { return knows(name); });
    if (!affordable || (until > 100 && complete)) break;
    std::vector<Trace> traces(until - traces_);
    // A seed of its own: what is asked by default must not depend on the user's.
    std::vector<char> failed(traces.size());
    const RunOptions forward{.seed = traces_,
                             .held = options.held,
                             .max_length = options.max_length,
                             .monitor = options.monitor,
                             .failed = [&](std::uint64_t i) { failed[i] = 1; }};
    run_traces(
        simulator, traces.size(), prior_guide(),
        [&](std::uint64_t i, Trace& trace) { std::swap(traces[i], trace); }, forward, parallelism);
    for (std::size_t i = 0; i < traces.size(); ++i) {
      if (!failed[i]) add(traces_++, traces[i]);
    }
  }
  if (options.monitor) options.monitor->traces.store(0);
  simulator.forget_failures();
}

bool Pilot::knows(const std::string& name, bool observed) const {
  if (!observed && name == kResult && result_) return true;
  return std::any_of(seen_.begin(), seen_.end(), [&](const auto& entry) {
    if (observed && entry.second.role != Role::kObserve) return false;
    return entry.first == name || (entry.second.place && entry.second.list == name);
  });
}

void Pilot::add(std::uint64_t index, const Trace& trace) {
  for (const Entry& entry : trace.entries) {
    const Variable& variable = *entry.address->variable;
    if (entry.role == Role::kFactor) continue;
    const bool named = !variable.name.empty();
    const auto [place, is_new] = seen_.try_emplace(named ? variable.name : entry.address->text,
                                                   Seen{.role = entry.role,
                                                        .shape = entry.value.shape(),
                                                        .list = variable.list,
                                                        .place = variable.place,
                                                        .order = seen_.size(),
                                                        .named = named});
    Seen& seen = place->second;
    if (seen.last_trace != index) ++seen.traces;
    seen.most = std::max(seen.most, entry.address->instance);
    seen.last_trace = index;
    seen.shape_varies |= entry.value.shape() != seen.shape;
  }
  if (!result_ && !trace.result.empty()) result_ = trace.result.shape();
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
    bool taken = false;
    for (const auto& [seen_name, seen] : seen_) {
      if (seen.role != Role::kObserve || !seen.named) continue;
      taken |= seen_name == name || (seen.place && seen.list == name && !value.is_scalar());
      // A vector for a scalar feeds repeated sites one by one; otherwise it must fit as a whole.
      const std::size_t components = element_count(seen.shape);
      if (seen_name == name && !seen.shape_varies && value.size() != components &&
          (components != 1 || seen.most == 1)) {
        throw InvalidArgument(fmt::format("observation '{}' has {} values, but the model takes {}",
                                          name, value.size(), components));
      }
    }
    if (!taken) {
      throw InvalidArgument(
          fmt::format("no site of the model takes the observation '{}'{}; it "
                      "observes: {}; its latents: {} (in {} runs)",
                      name, suggestion(name, names(true)), comma_list(names(true)),
                      comma_list(names(false)), traces_));
    }
    check_length(name, value.size());
  }
}

void Pilot::check_held(const Observations& held) const {
  for (const auto& [name, value] : held.values()) {
    std::optional<Role> other;
    bool taken = false;
    for (const auto& [seen_name, seen] : seen_) {
      const bool fits = seen_name == name || (seen.place && seen.list == name);
      if (fits && seen.role != Role::kSample) other = seen.role;
      taken |= fits && seen.role == Role::kSample;
    }
    if (taken) continue;
    if (!other) fail(name, "--given");
    throw InvalidArgument(fmt::format("--given '{}': only a latent can be held; this is {}", name,
                                      other == Role::kObserve
                                          ? "an observation, which --observe conditions on"
                                          : "a tag, which the program computes"));
  }
}

// A vector that feeds indexed sites: longer than the indices that always come up is a mistake.
void Pilot::check_length(const std::string& name, std::size_t size) const {
  std::size_t indices = 0;
  for (const auto& [seen_name, seen] : seen_) {
    if (seen.role != Role::kObserve || !seen.place || seen.list != name) continue;
    if (seen.traces != traces_) return;  // their number is random
    indices = std::max(indices, static_cast<std::size_t>(*seen.place) + 1);
  }
  if (indices > 0 && size > indices) {
    throw InvalidArgument(
        fmt::format("observation '{}' has {} values, but the model takes {}", name, size, indices));
  }
}

void Pilot::fail(const std::string& name, const std::string& option, bool observed) const {
  const auto known = names(observed);
  throw InvalidArgument(fmt::format("{} '{}': the model has no {} of that name{}; it has: {}",
                                    option, name, observed ? "observation" : "variable",
                                    suggestion(name, known), comma_list(known)));
}

void Pilot::require(const std::string& name, const std::string& option, bool observed) const {
  if (!knows(name, observed)) fail(name, option, observed);
}

std::vector<Query> Pilot::queries(const std::vector<std::string>& wanted,
                                  const std::string& option) const {
  std::vector<Query> result;
  for (const std::string& name : wanted) {
    const auto found = seen_.find(name);
    if (found != seen_.end()) {
      result.push_back({name, found->second.shape});
    } else if (name == kResult && result_) {
      result.push_back({name, *result_, [](const Trace& trace) { return trace.result; }});
    } else if (name == kResult) {
      throw InvalidArgument(fmt::format("{} '{}': the program returns nothing", option, name));
    } else {
      fail(name, option);
    }
  }
  return result;
}

std::vector<Query> Pilot::default_queries(bool with_observations) const {
  std::vector<std::string> candidates = names(false);
  if (with_observations) {
    const auto observed = names(true);
    candidates.insert(candidates.end(), observed.begin(), observed.end());
  }
  const bool any_named = std::any_of(candidates.begin(), candidates.end(),
                                     [&](const auto& name) { return seen_.at(name).named; });
  std::vector<Query> result;
  for (const std::string& name : candidates) {
    const Seen& seen = seen_.at(name);
    if (any_named && !seen.named) continue;
    if (seen.traces == traces_ && !seen.shape_varies) result.push_back({name, seen.shape});
  }
  return result;
}

}  // namespace psn::app
