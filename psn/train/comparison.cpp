#include "psn/train/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/nn/successors.h"

namespace psn {

// One call's traces on their way through the network.
class ConditionalComparison::Tally : public Follower {
 public:
  Tally(ConditionalComparison& whole, std::span<const Trace> traces)
      : whole_(whole), given_(traces), traces_(traces.size()) {}

  void transition(std::size_t trace, NodeId from, std::span<const float> logits, std::size_t row,
                  const Indices& indices) override {
    OneTrace& one = traces_[trace];
    const std::vector<double> wide(logits.begin(), logits.end());
    const double total = log_sum_exp(wide);
    const double log_s = wide[row] - total;
    one.log_ratio -= log_s;
    AddressDeviation& address = one.at ? *one.at : whole_.addresses_["begin"];
    if (!one.at) ++address.visits;
    address.transition -= log_s;
    if (one.outside) return;
    // Growth has split the unknown mass between row 0 and the rows it added (Theorem 1).
    find_targets(whole_.known_, from, indices, targets_);
    std::vector<double> known;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      if (targets_[i]) known.push_back(wide[i]);
    }
    one.log_known += log_sum_exp(known) - total;
    one.outside = row >= targets_.size() || !targets_[row];
  }

  void choice(std::size_t trace, const Entry& entry, const Distribution& distribution) override {
    OneTrace& one = traces_[trace];
    const Trace& given = given_[trace];
    come_to(one, given, static_cast<std::size_t>(&entry - given.entries.data()) + 1);
    const std::string& text = entry.address->text;
    AddressDeviation& address = whole_.addresses_[text];
    one.at = &address;
    ++address.visits;
    if (entry.distribution) {  // what a program computes has no density to compare with
      const double ratio = entry.log_prob - distribution.log_prob(entry.value);
      const auto exact = kl_divergence(*entry.distribution, distribution);
      one.log_ratio += ratio;
      address.value += exact.value_or(ratio);
      address.closed_form &= exact.has_value();
    }
    if (one.outside && whole_.unexpected_.empty()) whole_.unexpected_ = text;
  }

  void finish() {
    for (std::size_t i = 0; i < traces_.size(); ++i) {
      OneTrace& one = traces_[i];
      come_to(one, given_[i], given_[i].transitions.size());
      whole_.sum_ += one.log_ratio;
      whole_.squares_ += one.log_ratio * one.log_ratio;
      whole_.unknown_ += -std::expm1(one.log_known);
      whole_.unseen_ += one.outside;
    }
    whole_.traces_ += traces_.size();
  }

 private:
  struct OneTrace {
    AddressDeviation* at = nullptr;  // null at begin
    double log_ratio = 0;
    double log_known = 0;   // of the probability that no transition so far was to `unknown`
    std::size_t steps = 0;  // of its simulator's own transitions, how many have counted
    bool outside = false;   // it has left what the surrogate knows
  };

  // A simulator that draws where it goes (another surrogate) has a probability of that.
  void come_to(OneTrace& one, const Trace& given, std::size_t steps) {
    for (; one.steps < std::min(steps, given.transitions.size()); ++one.steps) {
      one.log_ratio += given.transitions[one.steps];
      (one.at ? *one.at : whole_.addresses_["begin"]).transition += given.transitions[one.steps];
    }
  }

  ConditionalComparison& whole_;
  std::span<const Trace> given_;
  std::vector<OneTrace> traces_;
  Targets targets_;
};

ConditionalComparison::ConditionalComparison(const Network& surrogate)
    : known_(surrogate), network_(std::make_shared<Network>(surrogate)), growth_(*network_) {}

void ConditionalComparison::add(std::span<const Trace> traces) {
  growth_.learn_names(traces);
  if (growth_.unseen() > 0 || !compiled_) {
    compiled_ = std::make_shared<const CompiledNetwork>(network_);
  }
  Tally tally(*this, traces);
  follow(compiled_, traces, tally);
  tally.finish();
}

ConditionalDeviation ConditionalComparison::result() const {
  ConditionalDeviation result;
  if (traces_ == 0) return result;
  if (unseen_ == traces_) {
    throw InvalidArgument(
        unexpected_.empty()
            ? "this surrogate is another model's: it knows none of the model's traces"
            : fmt::format("this surrogate is another model's: it does not expect '{}'",
                          unexpected_));
  }
  const auto n = static_cast<double>(traces_);
  result.traces = traces_;
  result.unseen = unseen_;
  result.kl = sum_ / n;
  result.standard_error = std::sqrt(std::max(0.0, squares_ / n - result.kl * result.kl) / n);
  result.unknown_mass = unknown_ / n;
  for (const auto& [text, sums] : addresses_) {
    AddressDeviation& address = result.addresses.emplace_back(sums);
    address.address = text;
    result.values += address.value /= n;
    result.transitions += address.transition /= n;
  }
  const auto contribution = [](const AddressDeviation& a) { return a.value + a.transition; };
  std::stable_sort(result.addresses.begin(), result.addresses.end(),
                   [&](const auto& a, const auto& b) { return contribution(a) > contribution(b); });
  return result;
}

}  // namespace psn
