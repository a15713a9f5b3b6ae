// A posterior in numbers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "psn/core/posterior.h"

namespace psn::services {

inline constexpr std::array<double, 5> kSummaryQuantiles{0.05, 0.25, 0.5, 0.75, 0.95};

// Of one column: a number for each component.
struct ColumnSummary {
  std::string name;
  bool scalar = true;  // one number, not a list of one
  std::vector<double> mean, sd;
  std::array<std::vector<double>, 5> quantiles;  // as kSummaryQuantiles
  double probability = 1;                        // that a trace has it
  std::vector<double> ess, rhat;                 // of Markov chains; else empty

  std::size_t width() const { return mean.size(); }
};

// Of every column, each name once.
std::vector<ColumnSummary> summarize_columns(const Posterior& posterior);

// How an engine fared that made a posterior.
struct EngineFigures {
  std::uint64_t traces = 0;  // that were run
  double seconds = 0;
  bool approximate = false;                     // draws of a network, which nothing has weighed
  std::optional<double> acceptance;             // of Markov chains
  std::optional<double> effective_sample_size;  // where the weights alone do not tell
};

struct PosteriorSummary {
  std::uint64_t samples = 0;
  std::vector<ColumnSummary> columns;
  double ess = 0;  // of chains: the worst of any component
  // Draws of a network, which nothing has weighed: ess is their number, and there is no evidence.
  bool approximate = false;
  // Of Markov chains: the worst R-hat of any component.
  std::size_t chains = 0;
  double rhat = 0, acceptance = 0;
  // Of weighted samples (chains = 0, not approximate).
  double log_evidence = 0, khat = 0, khat_threshold = 0;
  double traces_per_second = 0;
};

PosteriorSummary summarize(const Posterior& posterior, const EngineFigures& figures);

}  // namespace psn::services
