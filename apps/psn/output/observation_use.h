// Which observations a posterior's traces were weighed by. A program takes what it comes across, so
// an observation of a branch that was not taken, or of a loop that ended early, passes it by: the
// user must hear of that.
#pragma once

#include <nlohmann/json.hpp>

#include "psn/core/observations.h"
#include "psn/core/posterior.h"

namespace psn::app {

// A column for an engine's queries: how many values of each observation a trace took. The
// observations must outlive it.
Query observation_use(const Observations& observations);

// Takes that column out of the posterior again, and adds to the summary
//   observations: by name, how many values it has, how many of them a trace took (on average), and
//                 the shares of weight on traces that took none, only some, or one at two addresses
//   prior:        true if nothing at all weighed the traces
void summarize_observation_use(Posterior& posterior, const Observations& observations,
                               nlohmann::ordered_json& summary);

// On stdout: one line. On stderr: what the user may not have meant.
void print_observation_use(const nlohmann::ordered_json& summary);
void warn_of_observation_use(const nlohmann::ordered_json& summary);

}  // namespace psn::app
