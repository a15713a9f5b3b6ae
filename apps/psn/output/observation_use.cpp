#include "apps/psn/output/observation_use.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "psn/core/missing.h"

namespace psn::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kUseColumn = "observation use";
constexpr double kWorthAWord = 0.01;  // of the weight

// Of one trace: which addresses took which value, sorted by value.
struct Taking {
  std::size_t observation;
  std::size_t component;
  const Address* address;
  auto operator<=>(const Taking&) const = default;
};

// By observation: how many values it gave; then by observation, 1 if a value went to two addresses;
// then 1 if anything weighed the trace. A surrogate may visit one address twice: that is no second
// use.
class UseCounter {
 public:
  explicit UseCounter(const Observations& observations) : observations_(&observations) {
    for (const auto& [name, value] : observations.values()) index_.emplace(&name, index_.size());
  }
  std::size_t width() const { return 2 * index_.size() + 1; }

  Value operator()(const Trace& trace) const {
    std::vector<double> result(width(), 0.0);
    std::vector<Taking> takings;
    for (const Entry& entry : trace.entries) {
      if (entry.role == Role::kFactor) result.back() = 1;
      if (!entry.given) continue;
      const auto source = observations_->source(*entry.address, entry.value.size());
      if (source || entry.role == Role::kObserve) result.back() = 1;
      if (!source) continue;  // the program's own data, or a latent that is held
      const std::size_t i = index_.at(source->name);
      takings.push_back({i, source->component.value_or(0), entry.address});
      result[i] += static_cast<double>(count_present(source->taken()));
    }
    std::sort(takings.begin(), takings.end());
    for (std::size_t t = 1; t < takings.size(); ++t) {
      const Taking &one = takings[t - 1], &other = takings[t];
      if (one.observation == other.observation && one.component == other.component &&
          one.address != other.address) {
        result[index_.size() + one.observation] = 1;
      }
    }
    return Value(result);
  }

 private:
  const Observations* observations_;
  std::unordered_map<const std::string*, std::size_t> index_;
};

std::string percent(const Json& share) {
  return fmt::format("{:.3g} %", 100 * share.get<double>());
}

}  // namespace

Query observation_use(const Observations& observations) {
  const UseCounter counter(observations);
  return {kUseColumn, {static_cast<std::int64_t>(counter.width())}, counter};
}

void summarize_observation_use(Posterior& posterior, const Observations& observations,
                               Json& summary) {
  const std::vector<double> weights = posterior.weights();
  const Column use = posterior.take_column(kUseColumn);
  const std::size_t count = observations.values().size();
  Json by_name = Json::object();
  std::size_t i = 0;
  for (const auto& [name, value] : observations.values()) {
    const auto values = static_cast<double>(count_present(value));
    double used = 0, none = 0, some = 0, twice = 0;
    for (std::size_t row = 0; row < weights.size(); ++row) {
      const double* taken = &use.data[row * use.width()];
      used += weights[row] * taken[i];
      if (taken[i] == 0) none += weights[row];
      if (taken[i] > 0 && taken[i] < values) some += weights[row];
      if (taken[count + i] > 0) twice += weights[row];
    }
    Json& entry = by_name[name] = Json{{"values", values}, {"used", used}};
    if (values > 0) entry["unused_share"] = none;
    if (some > 0) entry["partly_used_share"] = some;
    if (twice > 0) entry["used_twice_share"] = twice;
    ++i;
  }
  summary["observations"] = std::move(by_name);
  double weighed = 0;
  for (std::size_t row = 0; row < weights.size(); ++row) {
    weighed += weights[row] * use.data[(row + 1) * use.width() - 1];
  }
  if (weighed == 0) summary["prior"] = true;
}

void print_observation_use(const Json& summary) {
  if (summary["observations"].empty()) return;
  constexpr std::size_t kShown = 8;
  std::vector<std::string> parts;
  for (const auto& [name, use] : summary["observations"].items()) {
    if (parts.size() == kShown) {
      parts.push_back(fmt::format("... ({} in all)", summary["observations"].size()));
      break;
    }
    parts.push_back(fmt::format("{} {:.4g} of {}", name, use["used"].get<double>(),
                                use["values"].get<double>()));
  }
  fmt::print("values used by a trace: {}\n", fmt::join(parts, ", "));
}

void warn_of_observation_use(const Json& summary) {
  if (summary.contains("prior")) {
    fmt::print(stderr,
               "psn: warning: nothing was observed, so this is the prior: --observe NAME=VALUE\n");
  }
  const auto warn = [](const Json& use, const char* share, const std::string& what) {
    if (use.contains(share) && use[share].get<double>() > kWorthAWord) {
      fmt::print(stderr, "psn: warning: traces with {} of the weight {}\n", percent(use[share]),
                 what);
    }
  };
  for (const auto& [name, use] : summary["observations"].items()) {
    warn(use, "unused_share",
         fmt::format("never came to the observation '{}', and were not weighed by it", name));
    warn(use, "partly_used_share",
         fmt::format("used only some of the {} values of the observation '{}'",
                     use["values"].get<double>(), name));
    warn(use, "used_twice_share",
         fmt::format("used one value of the observation '{}' at two addresses", name));
  }
}

}  // namespace psn::app
