#include "psn/infer/marginal_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "psn/base/error.h"
#include "psn/base/numerics.h"

namespace psn {
namespace {

constexpr double kMostVariance = 100;              // of what is hopeless
constexpr std::uint64_t kChosen = 0x63686f73656e;  // purpose of a random stream

// The first run of each estimate, or all others; one of them in each slot.
class MarginalRuns : public Guide, public Task {
 public:
  MarginalRuns(const ParameterNames& parameters, const RunOptions& options,
               std::span<MarginalEstimate* const> estimates, bool first, std::size_t width)
      : parameters_(parameters),
        seed_(options.seed),
        estimates_(estimates),
        first_(first),
        slots_(width) {}

  std::optional<Ticket> next(Slot slot) override {
    while (next_ < estimates_.size()) {
      MarginalEstimate& e = *estimates_[next_];
      const std::uint64_t end = first_ ? 1 : e.dead ? 0 : e.runs;
      if (next_run_ == 0 && !first_) next_run_ = 1;
      if (next_run_ >= end) {
        ++next_;
        next_run_ = 0;
        continue;
      }
      slots_[slot] = {&e, next_run_++, false};
      return Ticket{e.first.trace + slots_[slot].run, e.first.chain};
    }
    return std::nullopt;
  }

  void choose(std::span<const Pending> requests, std::span<Choice> choices) override {
    for (std::size_t i = 0; i < requests.size(); ++i) choices[i] = choice(requests[i]);
  }

  void finished(Slot slot, const Ticket& ticket, Trace& trace) override {
    Place& place = slots_[slot];
    MarginalEstimate& e = *place.estimate;
    ++e.made;
    double& log_weight = e.log_weights[place.run];
    if (place.run == 0) {
      e.log_prior = parameters_.log_prior(trace);
      if (e.at.empty()) e.at = parameters_.in(trace);
      e.dead = place.impossible || !are_distinct(e);
    }
    if (place.impossible || !is_as_expected(e, trace)) return;
    log_weight = trace.log_likelihood + parameters_.log_prior(trace);
    if (!(log_weight > -kInfinity)) return;
    // The largest of these keys is that of one in proportion to its weight (Gumbel).
    Rng rng = Rng(seed_, ticket.trace, ticket.chain).fork(kChosen);
    const double key = log_weight - std::log(rng.exponential());
    if (key <= e.chosen_key) return;
    e.chosen_key = key;
    std::swap(e.chosen, trace);
  }
  void failed(Slot slot, const Ticket&) override {
    MarginalEstimate& e = *slots_[slot].estimate;
    ++e.made;
    e.dead |= slots_[slot].run == 0;  // which was to tell more than its weight
  }

 private:
  struct Place {
    MarginalEstimate* estimate = nullptr;
    std::uint64_t run = 0;
    bool impossible = false;  // a parameter has a value that it cannot have here
  };

  Choice choice(const Pending& request) {
    Place& place = slots_[request.slot];
    const Distribution& prior = *request.distribution;
    Choice drawn{prior.draw(*request.rng), std::nullopt};
    if (!is_parameter(*request.address)) return drawn;
    MarginalEstimate& e = *place.estimate;
    if (place.run == 0) e.priors.push_back(prior);
    if (e.at.empty()) return drawn;
    const auto found = std::find_if(e.at.begin(), e.at.end(), [&](const ParameterValue& p) {
      return p.address == request.address;
    });
    if (found == e.at.end()) return drawn;
    if (!(prior.log_prob(found->value) > -kInfinity)) {
      place.impossible = true;  // and the program is not to go on with it
      return drawn;
    }
    return {found->value, 0.0};
  }

  bool is_parameter(const Address& address) {
    if (address.id >= known_.size()) known_.resize(address.id + 1, -1);
    if (known_[address.id] < 0) known_[address.id] = parameters_.has(address) ? 1 : 0;
    return known_[address.id] == 1;
  }

  // A surrogate may leave a parameter out, or come by it twice.
  static bool are_distinct(const MarginalEstimate& e) {
    std::set<const Address*> all;
    for (const ParameterValue& p : e.at) all.insert(p.address);
    if (all.empty() && e.strict) {
      throw ModelError("`parameters` must be latents that every run has: one run has none of them");
    }
    return !all.empty() && all.size() == e.at.size();
  }

  bool is_as_expected(const MarginalEstimate& e, const Trace& trace) const {
    const ParameterValues here = parameters_.in(trace);
    const bool same =
        std::equal(here.begin(), here.end(), e.at.begin(), e.at.end(),
                   [](const auto& a, const auto& b) { return a.address == b.address; });
    if (!same && e.strict) {
      throw ModelError(fmt::format(
          "`parameters` must be latents that every run has, in the same order: one run has {} of "
          "them, another {}",
          e.at.size(), here.size()));
    }
    const double log_prior = parameters_.log_prior(trace);
    if (same && e.same_prior && e.strict &&
        std::abs(log_prior - e.log_prior) > 1e-9 * (1 + std::abs(e.log_prior))) {
      throw ModelError(
          "the prior of the `parameters` depends on other latents of the run: name these, too, or "
          "`fresh` 0");
    }
    return same;
  }

  const ParameterNames& parameters_;
  const std::uint64_t seed_;
  const std::span<MarginalEstimate* const> estimates_;
  const bool first_;
  std::vector<Place> slots_;
  std::vector<signed char> known_;  // by address id: whether it is a parameter's; -1: not yet
  std::size_t next_ = 0;
  std::uint64_t next_run_ = 0;
};

}  // namespace

bool ParameterNames::has(const Address& address) const {
  return std::any_of(names_.begin(), names_.end(), [&](const std::string& name) {
    return name == address.name() || name == address.text || name == address.variable->list;
  });
}

ParameterValues ParameterNames::in(const Trace& trace) const {
  ParameterValues values;
  for (const Entry& entry : trace.entries) {
    if (entry.role != Role::kSample || entry.given || !has(*entry.address)) continue;
    if (!entry.control) {
      throw ModelError(
          fmt::format("`parameters`: nobody controls '{}' (control = false)", entry.address->text));
    }
    values.push_back({entry.address, entry.value});
  }
  return values;
}

double ParameterNames::log_prior(const Trace& trace) const {
  double sum = 0;
  for (const Entry& entry : trace.entries) {
    const bool counts = entry.role == Role::kSample && !entry.given && has(*entry.address);
    if (counts) sum += entry.log_prob;
  }
  return sum;
}

double MarginalEstimate::log_mean() const {
  return log_sum_exp(log_weights) - std::log(static_cast<double>(log_weights.size()));
}

std::optional<double> MarginalEstimate::log_variance() const {
  const std::size_t half = log_weights.size() / 2;
  if (half == 0) return std::nullopt;
  const std::span<const double> all = log_weights;
  const double a = log_sum_exp(all.first(half)), b = log_sum_exp(all.last(half));
  if (a == -kInfinity && b == -kInfinity) return std::nullopt;
  // Each half's variance is about twice that of the whole, and their difference's four times.
  return std::min((a - b) * (a - b) / 4, kMostVariance);
}

void make_estimates(Ensemble& ensemble, const ParameterNames& parameters, const RunOptions& options,
                    std::span<MarginalEstimate* const> estimates) {
  for (MarginalEstimate* e : estimates) {
    e->log_weights.assign(e->runs, -kInfinity);
    e->chosen_key = -kInfinity;
  }
  for (const bool first : {true, false}) {
    MarginalRuns runs(parameters, options, estimates, first, ensemble.width());
    run(ensemble, runs, runs, options);
  }
}

}  // namespace psn
