// Which observations a posterior's traces were weighed by. A program takes what it comes across, so
// an observation of a branch that was not taken, or of a loop that ended early, passes it by: the
// user must hear of that.
#pragma once

#include <string>
#include <vector>

#include "psn/core/observations.h"
#include "psn/core/posterior.h"

namespace psn::services {

struct ObservationUse {
  std::string name;
  double values = 0;  // that it has
  double used = 0;    // of them by a trace, on average
  // The shares of weight on traces that took none, only some, or one at two addresses.
  double unused = 0, partly_used = 0, used_twice = 0;
};

struct ObservationsUse {
  std::vector<ObservationUse> observations;  // in the order of their names
  bool prior = false;                        // nothing at all weighed the traces
};

// A column for an engine's queries: how many values of each observation a trace took. The
// observations must outlive it.
Query observation_use_query(const Observations& observations);

// Takes that column out of the posterior again.
ObservationsUse take_observation_use(Posterior& posterior, const Observations& observations);

}  // namespace psn::services
