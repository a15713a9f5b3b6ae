// What should be known of the runs behind a result, besides the result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "psn/core/ensemble.h"
#include "psn/core/failure_log.h"
#include "psn/services/host.h"

namespace psn::services {

// Of a surrogate, from its simulator.
struct HeldOutKl {
  double nats = 0, standard_error = 0;  // per trace
  std::uint64_t traces = 0;
};

// What few observations of an inference network's held-out runs reach (psn/nn/observation.h).
struct RemoteObservation {
  double remoteness = 0;
  std::uint64_t traces = 0;  // held out
};

// Traces of a surrogate that went on in its simulator at an unknown address.
struct Fallbacks {
  std::string simulator;
  std::uint64_t taken = 0;
  std::uint64_t refused = 0;  // times that the simulator could not have made the choices so far
};

// How close a surrogate came to its simulator, as its file tells from the training. What an engine
// says of its own work (ESS, k-hat, R-hat) is about the surrogate and knows nothing of this.
struct SurrogateQuality {
  std::optional<HeldOutKl> kl;  // nullopt: not known
};

struct RunReport {
  std::optional<SurrogateQuality> surrogate;  // of a surrogate
  std::optional<Fallbacks> fallbacks;         // of one that may fall back
  Failures failures;                          // runs that are left out
  std::string started_anew;  // why an attached program is, for each run; "" if it is not
};

// Counts from here on: runs that only look what the model is like are no part of the result.
void forget_fallbacks(Simulator& simulator);
// For a model that is a surrogate's file.
std::optional<SurrogateQuality> surrogate_quality(const std::string& model);
// The rest of the report, of all ranks, which all must call it; `earlier`: failures before the work
// was interrupted.
RunReport report_on(Simulator& simulator, Host& host, const Failures& earlier = {});
Failures all_failures(const Simulator& simulator, Host& host, const Failures& earlier = {});

// Those of the names that the simulator, if it is a surrogate, has learned as tags: they are
// learned, not computed.
std::vector<std::string> learned_tags(const Simulator& simulator,
                                      const std::vector<std::string>& names);

}  // namespace psn::services
