#include "psn/services/model_survey.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "psn/base/error.h"
#include "psn/base/text.h"
#include "psn/infer/importance.h"
#include "psn/services/names.h"

namespace psn::services {
namespace {

const std::string kResult = "result";

}  // namespace

ModelSurvey::ModelSurvey(Simulator& simulator, const Parallelism& parallelism,
                         const RunOptions& options, const std::vector<std::string>& wanted_names) {
  for (const std::string& name : wanted_names) {
    wanted_.insert(name);
    for (std::string& part : split_names(name)) wanted_.insert(std::move(part));
  }
  const auto is_known = [&](const std::string& name) {
    const auto needed = parts(name);
    return std::all_of(needed.begin(), needed.end(), [&](const auto& part) { return knows(part); });
  };
  constexpr auto kLongest = std::chrono::milliseconds(10'000);
  const auto start = std::chrono::steady_clock::now();
  for (const std::uint64_t until : {1, 100, 1'000, 10'000}) {
    const auto spent = std::chrono::steady_clock::now() - start;
    const bool affordable =
        spent * (until - traces_) < kLongest * std::max<std::uint64_t>(1, traces_);
    const bool complete = std::all_of(wanted_names.begin(), wanted_names.end(), is_known);
    if (!affordable || (until > 100 && complete)) break;
    std::vector<Trace> traces(until - traces_);
    // A seed of its own: what is asked by default must not depend on the user's.
    std::vector<char> failed(traces.size());
    const RunOptions forward{.seed = seed_for(DrawsFor::kSurvey, traces_),
                             .held = options.held,
                             .max_length = options.max_length,
                             .keep_distributions = !wanted_.empty(),
                             .monitor = options.monitor,
                             .failed = [&](std::uint64_t i) { failed[i] = 1; }};
    run_traces(
        simulator, traces.size(), prior_guide(),
        [&](std::uint64_t i, Trace& trace) {
          for (Entry& entry : trace.entries) {
            if (!is_wanted(*entry.address)) entry.distribution.reset();
          }
          std::swap(traces[i], trace);
        },
        forward, parallelism);
    for (std::size_t i = 0; i < traces.size(); ++i) {
      if (!failed[i]) add(traces_++, traces[i]);
    }
  }
  if (options.monitor) options.monitor->traces.store(0);
  simulator.forget_failures();
}

// Several with commas between them, unless the model knows the whole as one.
std::vector<std::string> ModelSurvey::parts(const std::string& argument) const {
  if (knows(argument)) return {argument};
  return split_names(argument);
}

bool ModelSurvey::is_wanted(const Address& address) const {
  const Variable& variable = *address.variable;
  return wanted_.contains(address.text) || wanted_.contains(variable.name) ||
         (variable.place && wanted_.contains(variable.list));
}

bool ModelSurvey::knows(const std::string& name, bool observed) const {
  if (!observed && name == kResult && result_) return true;
  const auto is_it = [&](const std::string& key, const Seen& seen) {
    if (observed && seen.role != Role::kObserve) return false;
    return key == name || (seen.place && seen.list == name);
  };
  if (const auto found = seen_.find(name); found != seen_.end() && is_it(name, found->second)) {
    return true;
  }
  return std::any_of(seen_.begin(), seen_.end(),
                     [&](const auto& entry) { return is_it(entry.first, entry.second); });
}

void ModelSurvey::add(std::uint64_t index, const Trace& trace) {
  constexpr std::size_t kRemembered = 1'000;  // runs
  std::vector<Visit> visits;
  for (const Entry& entry : trace.entries) {
    if (entry.role == Role::kFactor) continue;
    const bool named = !entry.address->variable->name.empty();
    const std::string& text = entry.address->text;
    record(named ? entry.address->variable->name : text, entry, index).named = named;
    if (wanted_.empty() || !is_wanted(*entry.address)) continue;
    if (named && wanted_.contains(text)) record(text, entry, index).asked_by_address = true;
    if (entry.role != Role::kTag) {
      visits.push_back({entry.address, entry.value.size(), entry.distribution});
    }
  }
  if (!result_ && !trace.result.empty()) result_ = trace.result.shape();
  if (visits_.size() < kRemembered && !visits.empty()) visits_.push_back(std::move(visits));
}

ModelSurvey::Seen& ModelSurvey::record(const std::string& key, const Entry& entry,
                                       std::uint64_t index) {
  const Variable& variable = *entry.address->variable;
  Seen& seen = seen_
                   .try_emplace(key, Seen{.role = entry.role,
                                          .shape = entry.value.shape(),
                                          .list = variable.list,
                                          .place = variable.place,
                                          .order = seen_.size()})
                   .first->second;
  if (seen.last_trace != index) ++seen.traces;
  seen.last_trace = index;
  seen.shape_varies |= entry.value.shape() != seen.shape;
  return seen;
}

std::vector<std::string> ModelSurvey::names(bool observed) const {
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const auto& [name, seen] : seen_) {
    if (seen.asked_by_address) continue;
    if ((seen.role == Role::kObserve) == observed) found.emplace_back(seen.order, name);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> names;
  for (auto& [order, name] : found) names.push_back(std::move(name));
  return names;
}

// Those names for a message; "obs_0 to obs_9" for the many of a list.
std::string ModelSurvey::listed(bool observed) const {
  constexpr std::size_t kShown = 40;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> lists;
  const std::vector<std::string> all = names(observed);
  for (const std::string& name : all) {
    const Seen& seen = seen_.at(name);
    if (!seen.place) continue;
    auto& [low, high] = lists.try_emplace(seen.list, *seen.place, *seen.place).first->second;
    low = std::min(low, *seen.place);
    high = std::max(high, *seen.place);
  }
  std::vector<std::string> shown;
  for (const std::string& name : all) {
    const Seen& seen = seen_.at(name);
    const auto list = seen.place ? lists.find(seen.list) : lists.end();
    if (seen.place && list == lists.end()) continue;  // told already
    if (shown.size() == kShown) {
      shown.emplace_back("...");
      break;
    }
    const bool several = seen.place && list->second.first < list->second.second;
    shown.push_back(several ? fmt::format("{0}_{1} to {0}_{2}", seen.list, list->second.first,
                                          list->second.second)
                            : name);
    if (seen.place) lists.erase(list);
  }
  return shown.empty() ? "nothing" : fmt::format("{}", fmt::join(shown, ", "));
}

// Does a site take such an observation? A number is no list.
bool ModelSurvey::takes(const std::string& name, const Value& value) const {
  return std::any_of(seen_.begin(), seen_.end(), [&](const auto& entry) {
    const auto& [key, seen] = entry;
    if (seen.role == Role::kTag) return false;
    return key == name || (seen.place && seen.list == name && !value.is_scalar());
  });
}

void ModelSurvey::check(const Observations& observations) const {
  for (const auto& [name, value] : observations.values()) {
    if (takes(name, value)) continue;
    std::vector<std::string> sites = nameable(true);
    for (std::string& latent : nameable(false)) sites.push_back(std::move(latent));
    throw InvalidArgument(
        fmt::format("no site of the model takes the observation '{}'{}; it observes: {}; its "
                    "latents: {} (in {} runs)",
                    name, suggestion(name, sites), listed(true), listed(false), traces_));
  }
  check_observations(observations, visits_);
}

void ModelSurvey::check_densities(const Observations& observations) const {
  for (const auto& visits : visits_) {
    for (const Visit& visit : visits) {
      if (visit.distribution) continue;
      const auto source = observations.source(*visit.address, visit.size);
      if (!source) continue;
      throw InvalidArgument(fmt::format(
          "the observation '{}' is computed by the program, not drawn ('{}'): it has no density to "
          "weigh runs by. Ask an inference network for its own answer (`engine` network), or infer "
          "in a surrogate, which learns a density (psn train surrogate)",
          *source->name, visit.address->text));
    }
  }
}

void ModelSurvey::check_held(const Observations& held) const {
  for (const auto& [name, value] : held.values()) {
    std::optional<Role> other;
    bool taken = false;
    for (const auto& [seen_name, seen] : seen_) {
      const bool fits = seen_name == name || (seen.place && seen.list == name);
      if (fits && seen.role != Role::kSample) other = seen.role;
      taken |= fits && seen.role == Role::kSample;
    }
    if (taken) continue;
    if (!other) fail(name, "`held`");
    throw InvalidArgument(fmt::format("`held` '{}': only a latent can be held; this is {}", name,
                                      other == Role::kObserve
                                          ? "an observation, which `observations` conditions on"
                                          : "a tag, which the program computes"));
  }
}

// What a slip of the pen may have meant: names, and those of lists.
std::vector<std::string> ModelSurvey::nameable(bool observed) const {
  std::vector<std::string> candidates = names(observed);
  std::set<std::string> lists;
  for (const std::string& name : candidates) {
    if (const Seen& seen = seen_.at(name); seen.place) lists.insert(seen.list);
  }
  candidates.insert(candidates.end(), lists.begin(), lists.end());
  return candidates;
}

void ModelSurvey::fail(const std::string& name, const std::string& field, bool observed) const {
  std::vector<std::string> meant = nameable(observed);
  std::string known = listed(observed);
  if (!observed && !names(true).empty()) {
    for (std::string& other : nameable(true)) meant.push_back(std::move(other));
    known += fmt::format("; it observes: {}", listed(true));
  }
  throw InvalidArgument(fmt::format("{} '{}': the model has no {} of that name{}; it has: {}",
                                    field, name, observed ? "observation" : "variable",
                                    suggestion(name, meant), known));
}

void ModelSurvey::require(const std::string& name, const std::string& field, bool observed) const {
  if (!knows(name, observed)) fail(name, field, observed);
}

Query ModelSurvey::query(const std::string& name, const std::string& field) const {
  const auto found = seen_.find(name);
  if (found != seen_.end()) return {name, found->second.shape};
  if (name == kResult && result_) {
    return {name, *result_, [](const Trace& trace) { return trace.result; }};
  }
  if (name == kResult) {
    throw InvalidArgument(
        fmt::format("{} '{}': the program returns nothing, or its surrogate has not learned what "
                    "(psn train surrogate --tags learn)",
                    field, name));
  }
  fail(name, field);
}

// The names of a list, by place; none if it is not one.
std::vector<std::string> ModelSurvey::members(const std::string& list) const {
  std::map<std::int64_t, std::string> by_place;
  if (seen_.contains(list)) return {};
  for (const auto& [name, seen] : seen_) {
    if (seen.place && seen.list == list && seen.named && !seen.asked_by_address)
      by_place.emplace(*seen.place, name);
  }
  std::vector<std::string> result;
  for (auto& [place, name] : by_place) result.push_back(std::move(name));
  return result;
}

std::vector<Query> ModelSurvey::queries(const std::vector<std::string>& wanted,
                                        const std::string& field) const {
  std::vector<Query> result;
  for (const std::string& argument : wanted) {
    for (const std::string& name : parts(argument)) {
      const std::vector<std::string> list = members(name);
      for (const std::string& member : list) result.push_back(query(member, field));
      if (list.empty()) result.push_back(query(name, field));
    }
  }
  return result;
}

std::vector<Query> ModelSurvey::default_queries(bool with_observations) const {
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

}  // namespace psn::services
