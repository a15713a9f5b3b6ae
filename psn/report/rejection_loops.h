// Loops in a program's traces that look like rejection: the same choices, from the same
// distributions, made again and again, and those of the last round unlike those before it, as if
// they were repeated until something held.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "psn/core/trace.h"

namespace psn {

struct RejectionLoop {
  std::vector<std::string> choices;  // of a round, by name or address
  double rounds = 0;                 // in a trace, on average, where there is more than one
  std::uint64_t traces = 0;          // with more than one
};

class RejectionLoops {
 public:
  // With distributions (RunOptions::keep_distributions). Loops that a guide follows
  // (core/rounds.h) are not seen.
  void add(const Trace& trace);
  // By how often they come up. A random number of draws whose last one is like the others is found
  // in one of a million programs.
  std::vector<RejectionLoop> found() const;

 private:
  struct Seen {
    std::uint64_t traces = 0, rounds = 0;
    std::vector<std::vector<double>> last, before;  // values of each component
  };

  std::map<std::vector<std::string>, Seen> seen_;
};

}  // namespace psn
