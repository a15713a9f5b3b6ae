// Estimates of p(theta, y), theta being a few latents of a program, its parameters: the mean weight
// of so many runs in which they are given and all else is drawn by the program. Unbiased, whatever
// else the program draws, before theta or after.
#pragma once

#include <string>
#include <vector>

#include "psn/core/run.h"
#include "psn/core/trace.h"

namespace psn {

struct ParameterValue {
  const Address* address = nullptr;
  Value value;
};
using ParameterValues = std::vector<ParameterValue>;  // in the order of the first run

// Which latents of a trace are parameters: by name, address, or name of their list.
class ParameterNames {
 public:
  explicit ParameterNames(std::vector<std::string> names) : names_(std::move(names)) {}
  bool has(const Address& address) const;
  // Throws ModelError for one that nobody controls.
  ParameterValues in(const Trace& trace) const;
  // log p of them.
  double log_prior(const Trace& trace) const;
  const std::vector<std::string>& all() const { return names_; }

 private:
  std::vector<std::string> names_;
};

// An estimate to be made, and made.
struct MarginalEstimate {
  ParameterValues at;  // empty: where the first run comes to, by the prior
  std::uint64_t runs = 1;
  Ticket first;  // the first run's; the others' follow
  // What the parameters must be; if not, a run counts nothing, or is an error if `strict`.
  bool strict = false;
  bool same_prior = false;  // and must have the same density in all runs

  // The result.
  std::vector<Distribution> priors;  // of the parameters, in the first run
  std::vector<double> log_weights;   // log p(theta, y | ...) of each run
  double log_prior = 0;              // log p(theta), of the first run
  Trace chosen;                      // one of the runs, in proportion to its weight
  double chosen_key = 0;
  std::uint64_t made = 0;  // runs
  bool dead = false;       // theta is impossible, as the first run found; there are no others

  double log_mean() const;
  // The variance of log_mean(), roughly, by its halves; nullopt: too few runs.
  std::optional<double> log_variance() const;
};

// Makes them all. Run by run, in whatever order: the result depends on neither width nor threads.
// A run that the simulator cannot finish counts nothing.
void make_estimates(Ensemble& ensemble, const ParameterNames& parameters, const RunOptions& options,
                    std::span<MarginalEstimate* const> estimates);

}  // namespace psn
