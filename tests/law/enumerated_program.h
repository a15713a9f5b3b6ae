// The exact posterior of a program whose choices are all discrete: every run there is, weighed.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "psn/core/context.h"
#include "psn/core/model.h"
#include "psn/core/observations.h"

namespace psn::test {

// Runs a program on all combinations of its choices, like an odometer. Choices are Bernoulli or
// Categorical, what was not
// observed decides about nothing.
class EnumeratedProgram : private Channel {
 public:
  using Values = std::map<std::string, double>;  // of a run, by name

  EnumeratedProgram(const Model& model, const Observations& data) : data_(data) {
    AddressTable table;
    AddressCache cache(table);
    Context context(*this, cache);
    do {
      at_ = 0;
      log_p_ = 0;
      values_.clear();
      context.restart();
      model.program(context);
      runs_.push_back({values_, std::exp(log_p_)});
      total_ += runs_.back().probability;
    } while (turn());
  }

  double evidence() const { return total_; }
  std::size_t size() const { return runs_.size(); }
  double expectation(const std::function<double(const Values&)>& f) const {
    double sum = 0;
    for (const Run& run : runs_) sum += run.probability / total_ * f(run.values);
    return sum;
  }

 private:
  struct Run {
    Values values;
    double probability;
  };

  Value ask(const Request& request) override {
    if (request.role == Role::kObserve) {
      const auto seen = data_.find(*request.address, 1);
      if (!seen) return Value(0.0);
      log_p_ += request.distribution->log_prob(*seen);
      return *seen;
    }
    if (request.role != Role::kSample) return {};
    const bool coin = request.distribution->family() == family_of<Bernoulli>;
    const int choices = coin ? 2 : static_cast<int>(request.distribution->categories());
    if (at_ == digits_.size()) digits_.push_back({0, choices});
    const Value value(digits_[at_++].value);
    log_p_ += request.distribution->log_prob(value);
    return values_[std::string(request.address->name())] = value.scalar();
  }

  // To the next combination; false: there is none.
  bool turn() {
    digits_.resize(at_);
    while (!digits_.empty() && digits_.back().value + 1 == digits_.back().choices) {
      digits_.pop_back();
    }
    if (!digits_.empty()) digits_.back().value += 1;
    return !digits_.empty();
  }

  struct Digit {
    double value;
    int choices;
  };
  const Observations& data_;
  std::vector<Digit> digits_;
  std::size_t at_ = 0;
  double log_p_ = 0, total_ = 0;
  Values values_;
  std::vector<Run> runs_;
};

}  // namespace psn::test
