// Programs drawn from a simulator or from its surrogate, with all that is compared between them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/program_synthesis/check.h"
#include "experiments/program_synthesis/program.h"
#include "psn/core/run.h"
#include "psn/report/transitions.h"

namespace psn::program_synthesis {

struct Program {
  std::vector<Statement> statements;
  std::string text;
  Size size;
  Fault fault = Fault::kNone;
  bool valid_text = false;
};

struct Sample {
  std::vector<Program> programs;
  std::vector<TransitionGraph::Edge> transitions;  // between sites
  double variables = 0;                            // random choices in a program, on average
  double seconds = 0;                              // that it took to draw and check them

  double valid_strict() const;
  double valid_text() const;
  std::array<std::uint64_t, kFaultNames.size()> faults() const;
  // How many programs have 0, 1, 2, ... lines, or are 0, 1, 2, ... levels deep.
  std::vector<std::uint64_t> histogram(std::size_t Size::*what) const;
};

Sample draw_programs(Simulator& simulator, std::uint64_t count, std::uint64_t seed,
                     Monitor* monitor = nullptr);

// Half the sum of absolute differences of two histograms, each divided by its total.
double total_variation(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b);

}  // namespace psn::program_synthesis
