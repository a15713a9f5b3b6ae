// The traces that a plan of a tally is fitted to.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "psn/nn/tally/tally.h"

namespace psn {

// Traces as far as a tally is concerned: sites and numbers, in order. Parts of a batch can be put
// together, in the order of their traces.
class TallySample {
 public:
  struct Site {
    std::string text;
    TallyType type;
  };

  // The next choice of the trace under way, and its end.
  void add(const std::string& site, const TallyType& type, double value);
  void end_trace();
  void append(const TallySample& other);
  // So many that the fit should not wait for more.
  bool enough() const;

  std::size_t traces() const { return lengths_.size(); }
  const std::vector<Site>& sites() const { return sites_; }  // in the order of their first choices
  const std::vector<std::uint32_t>& lengths() const { return lengths_; }  // of traces
  const std::vector<std::uint32_t>& at() const { return at_; }            // by choice: its site
  const std::vector<double>& values() const { return values_; }

  TallySample() = default;
  // For files and messages. Throws InvalidArgument if these do not belong together.
  TallySample(std::vector<Site> sites, std::vector<std::uint32_t> lengths,
              std::vector<std::uint32_t> at, std::vector<double> values);

 private:
  std::uint32_t number(const std::string& site, const TallyType& type);

  std::vector<Site> sites_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // of sites, by text
  std::vector<std::uint32_t> lengths_, at_;
  std::vector<double> values_;
  std::uint32_t length_ = 0;  // of the trace under way
};

}  // namespace psn
