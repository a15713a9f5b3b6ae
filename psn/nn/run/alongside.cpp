#include "psn/nn/run/alongside.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "psn/base/numerics.h"
#include "psn/core/missing.h"
#include "psn/nn/run/evaluate.h"
#include "psn/nn/steps.h"

namespace psn {
namespace {

std::optional<Value> given_in(const Observations* in, const Entry& entry) {
  return in ? in->find(*entry.address, entry.value.size()) : std::nullopt;
}

class Companion : public Follower {
 public:
  Companion(const Network& network, Trace& trace, const Observations* observations,
            const Observations* held, Rng& rng)
      : network_(network), trace_(trace), observations_(observations), held_(held), rng_(rng) {}

  void transition(std::size_t, NodeId from, std::span<const float> logits, std::size_t row,
                  const Indices& indices) override {
    trace_.transitions.push_back(
        log_prob_of_known(network_, from, logits, row, indices, work_space_));
  }
  void choice(std::size_t, const Entry&, const Distribution&) override {}

  std::optional<Value> instead(std::size_t, const Entry& entry,
                               const Distribution& distribution) override {
    if (is_derived(entry.role)) return distribution.draw(rng_);
    Entry& mine = own(entry);
    if (!mine.given && !(mine.role == Role::kSample && mine.control)) {
      mine.value = distribution.draw(rng_);
    }
    if (mine.given && given_in(held_, mine)) {
      mine.log_prob = 0;
      return mine.value;
    }
    const auto measured = mine.given ? given_in(observations_, mine) : std::nullopt;
    if (measured && gaps(*measured) != Gaps::kNone) {
      mine.value = fill_gaps(distribution, *measured, rng_);
      mine.log_prob = log_prob_of_present(distribution, *measured);
    } else {
      mine.log_prob = distribution.log_prob(mine.value);
    }
    trace_.log_joint += mine.log_prob;
    if (mine.given) trace_.log_likelihood += mine.log_prob;
    return mine.value;
  }

 private:
  // The trace's own entry; of a computed observation a copy comes along.
  Entry& own(const Entry& entry) {
    auto& all = trace_.entries;
    const std::less<> before;
    if (!before(&entry, all.data()) && before(&entry, all.data() + all.size())) {
      return all[static_cast<std::size_t>(&entry - all.data())];
    }
    return *std::find_if(all.begin(), all.end(),
                         [&](const Entry& e) { return e.address == entry.address; });
  }

  const Network& network_;
  Trace& trace_;
  const Observations *observations_, *held_;
  Rng& rng_;
  KnownRows work_space_;
};

}  // namespace

std::optional<Trace> Alongside::operator()(const Trace& run, Rng& rng) const {
  std::optional<Trace> trace(run);
  trace->transitions.clear();
  trace->log_joint = trace->log_likelihood = trace->log_weight = 0;
  Companion companion(network_->network(), *trace, observations_, held_, rng);
  if (!follow(network_, {&*trace, 1}, companion).empty()) return std::nullopt;
  const auto impossible = [](double log_p) { return !(log_p > -kInfinity); };
  const bool ruled_out =
      std::any_of(trace->transitions.begin(), trace->transitions.end(), impossible) ||
      impossible(trace->log_joint);
  if (ruled_out) return std::nullopt;
  trace->log_weight = trace->log_likelihood;
  return trace;
}

}  // namespace psn
