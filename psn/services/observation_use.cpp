#include "psn/services/observation_use.h"

#include <algorithm>
#include <unordered_map>

#include "psn/core/missing.h"

namespace psn::services {
namespace {

constexpr const char* kUseColumn = "observation use";

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

}  // namespace

Query observation_use_query(const Observations& observations) {
  const UseCounter counter(observations);
  return {kUseColumn, {static_cast<std::int64_t>(counter.width())}, counter};
}

ObservationsUse take_observation_use(Posterior& posterior, const Observations& observations) {
  const std::vector<double> weights = posterior.weights();
  const Column column = posterior.take_column(kUseColumn);
  const std::size_t count = observations.values().size();
  ObservationsUse result;
  for (const auto& [name, value] : observations.values()) {
    const std::size_t i = result.observations.size();
    ObservationUse use{.name = name, .values = static_cast<double>(count_present(value))};
    for (std::size_t row = 0; row < weights.size(); ++row) {
      const double* taken = &column.data[row * column.width()];
      use.used += weights[row] * taken[i];
      if (taken[i] == 0) use.unused += weights[row];
      if (taken[i] > 0 && taken[i] < use.values) use.partly_used += weights[row];
      if (taken[count + i] > 0) use.used_twice += weights[row];
    }
    result.observations.push_back(std::move(use));
  }
  double weighed = 0;
  for (std::size_t row = 0; row < weights.size(); ++row) {
    weighed += weights[row] * column.data[(row + 1) * column.width() - 1];
  }
  result.prior = weighed == 0;
  return result;
}

}  // namespace psn::services
