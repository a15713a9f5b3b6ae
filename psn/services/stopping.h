// When an inference has samples enough: conditions on the precision of what is there, and a limit
// of runs. Internal header of the services.
//
// To stop when a figure looks good favours samples that make it look good, though little: so there
// are looks only at numbers of samples that are fixed before, and the result says so.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "psn/core/posterior.h"
#include "psn/infer/engine_state.h"
#include "psn/infer/pseudo_marginal.h"
#include "psn/services/infer.h"

namespace psn::services {

// "ess=1000", "ess(theta) > 400", "mcse(theta) < 0.01", "rhat < 1.01".
class Precision {
 public:
  // Throws InvalidArgument for what is none.
  explicit Precision(const std::string& text);

  const std::string& text() const { return text_; }
  // Throws InvalidArgument if it is of a quantity that is not among these.
  void check(const std::vector<std::string>& names) const;
  // The figure that it is about, the worst over all components (of all of `names`, if it names
  // none); NaN: not known.
  double figure(const Posterior& posterior, const std::vector<std::string>& names) const;
  bool holds(double figure) const;

 private:
  enum class Kind { kEss, kError, kRhat };
  static double figure_of(Kind kind, const Posterior& posterior, const std::string& name,
                          std::size_t component);

  std::string text_, of_;  // of_ empty: of all quantities
  Kind kind_;
  double bound_ = 0;
};

// How far an inference goes, look after look.
class Looks {
 public:
  // Of a completed job that stops early; checked.
  // `free`: samples that take no run.
  Looks(const InferenceJob& job, std::vector<std::string> names, std::uint64_t free = 0);

  std::uint64_t first() const;    // samples until the first look, of all chains together
  std::uint64_t burn_in() const;  // of each chain
  std::uint64_t start_attempts() const;
  void limit(MarginalOptions& options) const;  // so that there are no more runs
  // Looks at what there is, after all samples till now; the number of samples until the next look,
  // or nullopt: it is over.
  std::optional<std::uint64_t> next(const EngineState& state, const Posterior& posterior);
  // Once it is over.
  const StoppingFigures& figures() const { return figures_; }

 private:
  std::uint64_t most_samples(const EngineState& state) const;  // of a chain, or of all if none
  bool look(const Posterior& posterior);

  const InferenceJob& job_;
  const std::uint64_t free_;
  const std::vector<std::string> names_;
  const std::uint64_t chains_;  // 1: there are none
  const std::uint64_t every_;   // samples of each
  std::vector<Precision> until_;
  StoppingFigures figures_;
};

// Throws InvalidArgument for conditions that cannot be, and for a limit that leaves no room.
void check_stopping(const InferenceJob& job);
std::vector<std::string> stopping_warnings(const StoppingFigures& figures);

}  // namespace psn::services
