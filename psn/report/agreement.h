// Statistics that tell how well traces of two simulators agree: transitions, whole paths, and the
// mean of one variable given another.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "psn/core/trace.h"
#include "psn/report/transitions.h"

namespace psn {

struct TransitionDeviation {
  std::string from, to;
  std::uint64_t departures[2];  // how often `from` was left
  double probability[2];        // of `to` among these
  double frequency[2];          // how often the transition is taken, per trace

  double difference() const { return probability[1] - probability[0]; }
  double standard_error() const;  // of the difference, if both were alike
};

// Of all transitions whose start was left at least `min_departures` times in both, the largest
// deviation of a probability first.
std::vector<TransitionDeviation> transition_deviations(const TransitionGraph& a,
                                                       const TransitionGraph& b,
                                                       std::uint64_t min_departures);

// How often each path (the whole sequence of addresses) was taken.
class PathCounts {
 public:
  void add(const Trace& trace);
  // Half the sum of absolute differences of the paths' frequencies: 0 alike, 1 disjoint. Of two
  // finite samples it is above 0 even if both come from one law.
  static double total_variation(const PathCounts& a, const PathCounts& b);

 private:
  // By a 64-bit hash of the addresses' texts: among a million paths, two share one with a
  // probability of 3e-8.
  std::unordered_map<std::uint64_t, std::uint64_t> counts_;
  std::uint64_t traces_ = 0;
};

struct Bin {
  double low, high;
  std::uint64_t count = 0;
  double by_mean = 0;                   // of the first number of the pairs in it
  double mean = 0, standard_error = 0;  // of the second
};

// Means of `second` where `first` lies in each of `bins` equal parts of [low, high]; what lies
// outside does not count.
std::vector<Bin> binned_means(std::span<const std::pair<double, double>> pairs, double low,
                              double high, std::size_t bins);

}  // namespace psn
