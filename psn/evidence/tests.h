// Many tests at once: what a verdict is made of.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace psn::evidence {

// A verdict fails what is sound with at most this probability, all its tests together.
inline constexpr double kFalseAlarm = 0.01;

// Adjusted p-values: to reject what is below a has a false-alarm rate of at most a, for all tests
// together and however they depend on each other (Holm 1979).
std::vector<double> holm(std::span<const double> p_values);
// To reject what is at most q has at most a share of q of false rejections among all, on average
// (Benjamini and Hochberg 1995).
std::vector<double> benjamini_hochberg(std::span<const double> p_values);

// P(X >= k) for n trials of probability p; 1 for p >= 1.
double binomial_tail(double n, double p, double k);
// A bound of P(sum of (X_i - p_i) >= excess) for independent X_i of two values 0 and 1, whose
// variances add up to this (Bernstein).
double bernstein_tail(double excess, double variance);

// A bound of P(mean >= this) for n independent numbers between 0 and 1 whose expectation is `most`
// (Hoeffding 1963, theorem 1): of the probabilities of events, as well as of the events themselves.
double hoeffding_tail(double n, double most, double mean);

struct Test {
  std::string test;  // its sort: "pit"
  std::string what;  // the site it is about; empty: the whole
  double p_value = 1;
  std::string reason;  // a sentence, in case it fails
  double adjusted_p_value = 1;
  bool failed = false;
};

struct Verdict {
  bool passed = true;      // nothing failed, and nothing was left open
  bool undecided = false;  // nothing failed, but something was left open: more data could tell
  std::vector<std::string> reasons;  // of the worst tests first
  double false_alarm_rate = kFalseAlarm;
  std::vector<Test> tests;  // the worst first
};

// By Holm. Of many reasons of one sort the worst few are told, and how many more there are.
Verdict verdict_of(std::vector<Test> tests);

}  // namespace psn::evidence
