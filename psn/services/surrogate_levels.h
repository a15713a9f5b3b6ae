// The surrogates that delayed acceptance moves in. Internal header of the services.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "psn/infer/delayed_acceptance.h"
#include "psn/nn/run/surrogate.h"
#include "psn/services/infer.h"

namespace psn::services {

class SurrogateLevels {
 public:
  // Loads job.surrogates for the simulator, which must outlive it, as the job must. Throws
  // InvalidArgument for one that does not know what was observed.
  SurrogateLevels(const InferenceJob& job, Simulator& simulator, Host& host);

  std::vector<SurrogateLevel> levels() const;
  Simulator* first() const { return surrogates_.front().get(); }

 private:
  const InferenceJob& job_;
  std::vector<std::unique_ptr<SurrogateSimulator>> surrogates_;
};

// Whether the surrogate is good enough to have been of use.
std::vector<std::string> delayed_warnings(const DelayedFigures& figures,
                                          const PosteriorSummary& summary);
// Whether many runs were in vain.
std::vector<std::string> correction_warnings(const CorrectionFigures& figures);
// Whether its estimates are good enough.
std::vector<std::string> marginal_warnings(const MarginalFigures& figures,
                                           const PosteriorSummary& summary);

}  // namespace psn::services
