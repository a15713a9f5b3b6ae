// Traces as rows of numbers, for a classifier that is to tell two simulators apart: the length, and
// the variables that come up most. Where a trace lacks one, it has the mean there, and a column of
// its own says so.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "psn/core/trace.h"

namespace psn::evidence {

class TraceSummaries {
 public:
  // Of each trace the last value of each variable, by name or address; of a vector the mean.
  void add(const Trace& trace);
  std::size_t size() const { return traces_.size(); }

  // At most so many columns, those that come up in most of these traces; what is always the same is
  // left out.
  std::vector<std::string> columns(std::size_t most) const;
  // Of the first `count` traces. What a trace lacks is replaced by the mean among `usual`.
  std::vector<double> rows(const std::vector<std::string>& columns, std::size_t count,
                           const TraceSummaries& usual) const;

 private:
  using Summary = std::vector<std::pair<std::size_t, double>>;  // by number of a name, ascending
  std::vector<double> values(const std::string& column) const;  // NaN: not there

  std::vector<std::string> names_;  // in the order of their first appearance
  std::unordered_map<std::string, std::size_t> number_of_;
  std::vector<Summary> traces_;
};

}  // namespace psn::evidence
