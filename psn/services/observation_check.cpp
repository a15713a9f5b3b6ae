#include "psn/services/observation_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "psn/base/error.h"
#include "psn/core/missing.h"

namespace psn::services {
namespace {

// That an address took an observation, or one component of it.
struct Use {
  const Visit* visit;
  Observations::Source source;

  std::size_t first() const { return source.component.value_or(0); }
  std::size_t last() const { return source.component.value_or(source.value->size() - 1); }
};
using UsesOfARun = std::vector<Use>;
using UsesOfRuns = std::vector<UsesOfARun>;  // of those with any

std::map<std::string, UsesOfRuns> uses_by_name(const Observations& observations,
                                               std::span<const std::vector<Visit>> runs) {
  std::map<std::string, UsesOfRuns> result;
  for (const auto& run : runs) {
    std::map<std::string, UsesOfARun> uses;
    for (const Visit& visit : run) {
      const auto source = observations.source(*visit.address, visit.size);
      if (source) uses[*source->name].push_back({&visit, *source});
    }
    for (auto& [name, of_run] : uses) result[name].push_back(std::move(of_run));
  }
  return result;
}

void check_shapes(const std::string& name, const Value& value, const UsesOfRuns& runs) {
  const Use *whole = nullptr, *part = nullptr;
  for (const auto& run : runs) {
    for (const Use& use : run) {
      (use.source.component ? part : whole) = &use;
      if (use.source.component || use.visit->size == value.size()) continue;
      throw InvalidArgument(
          fmt::format("observation '{}' has {} values, but the model takes {} at '{}'", name,
                      value.size(), use.visit->size, use.visit->address->text));
    }
  }
  if (whole && part) {
    throw InvalidArgument(
        fmt::format("observation '{}' has {} values: '{}' takes all of them, but '{}' only one",
                    name, value.size(), whole->visit->address->text, part->visit->address->text));
  }
}

// A list longer than all that a run takes. Where that number is random, a short run may be right.
void check_length(const std::string& name, const Value& value, const UsesOfRuns& runs) {
  std::set<std::size_t> taken;
  for (const auto& run : runs) {
    std::size_t last = 0;
    for (const Use& use : run) last = std::max(last, use.last());
    taken.insert(last + 1);
  }
  if (taken.size() == 1 && *taken.begin() < value.size()) {
    throw InvalidArgument(fmt::format("observation '{}' has {} values, but the model takes {}",
                                      name, value.size(), *taken.begin()));
  }
}

// Two addresses of a run that take the same value; nullopt if there are none.
std::optional<std::pair<Use, Use>> shared_value(const UsesOfARun& run) {
  std::map<std::size_t, const Use*> taken;
  for (const Use& use : run) {
    const auto [found, is_new] = taken.emplace(use.first(), &use);
    if (!is_new && found->second->visit->address != use.visit->address) {
      return std::pair(*found->second, use);
    }
  }
  return std::nullopt;
}

// A surrogate may once in a while go by a way that its simulator does not have: one run does not
// count.
void check_repetition(const std::string& name, const Value& value, const UsesOfRuns& runs) {
  constexpr std::size_t kOneIn = 20;
  std::size_t shared = 0;
  std::optional<std::pair<Use, Use>> example;
  for (const auto& run : runs) {
    if (auto both = shared_value(run)) {
      ++shared;
      example = both;
    }
  }
  if (shared * kOneIn <= runs.size()) return;
  throw InvalidArgument(fmt::format(
      "observation '{}': '{}' and '{}' of one run would take the same value; give {}, or observe "
      "them by address",
      name, example->first.visit->address->text, example->second.visit->address->text,
      value.is_scalar() ? "a list with a value for each" : "each a value of its own"));
}

void check_support(const std::string& name, const UsesOfRuns& runs) {
  std::map<std::size_t, std::optional<std::string>> never;  // by component; nullopt: may be
  for (const auto& run : runs) {
    for (const Use& use : run) {
      const auto why = use.visit->distribution
                           ? never_yields(*use.visit->distribution, use.source.taken())
                           : std::nullopt;
      const auto [found, is_new] = never.emplace(use.first(), why);
      if (!is_new && !why) found->second.reset();
    }
  }
  for (const auto& [component, why] : never) {
    if (why) throw InvalidArgument(fmt::format("observation '{}': {}", name, *why));
  }
}

// A value whose addresses all have others of their own, by address.
void check_use(const Observations& observations, const std::map<std::string, UsesOfRuns>& uses) {
  for (const auto& [name, value] : observations.values()) {
    if (uses.contains(name)) continue;
    for (const auto& [other, of_runs] : uses) {
      const Address& address = *of_runs.front().front().visit->address;
      const Variable& variable = *address.variable;
      if (variable.name != name && !(variable.place && variable.list == name)) continue;
      throw InvalidArgument(fmt::format(
          "observation '{}' is used nowhere: '{}' is observed by its address", name, address.text));
    }
  }
}

}  // namespace

void check_observations(const Observations& observations,
                        std::span<const std::vector<Visit>> runs) {
  const auto uses = uses_by_name(observations, runs);
  check_use(observations, uses);
  for (const auto& [name, of_runs] : uses) {
    const Value& value = observations.values().at(name);
    check_shapes(name, value, of_runs);
    check_length(name, value, of_runs);
    check_repetition(name, value, of_runs);
    check_support(name, of_runs);
  }
}

}  // namespace psn::services
