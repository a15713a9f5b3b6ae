// A baseline without memory: each kind of statement is drawn given the kind before it and its
// depth, with the frequencies of the simulator. It knows nothing of the stack.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "experiments/program_synthesis/program.h"

namespace psn::program_synthesis {

class MarkovBaseline {
 public:
  void add(const std::vector<Statement>& statements);
  // The fraction of `count` programs that the simulator could have written.
  double validity(std::uint64_t count, std::uint64_t seed) const;

 private:
  class Author;
  using Counts = std::array<double, kKinds>;
  // By the kind before and the depth now.
  std::map<std::pair<Kind, std::size_t>, Counts> counts_;
};

}  // namespace psn::program_synthesis
