// What a result should not be taken for, in words: each with its reason and the next step. Options
// stand in backquotes, as `traces`.
#pragma once

#include <string>
#include <vector>

#include "psn/services/observation_use.h"
#include "psn/services/posterior_summary.h"
#include "psn/services/run_report.h"
#include "psn/train/progress.h"

namespace psn::services {

// Nats per trace. Averaged over data, the posteriors of surrogate and simulator are no further
// apart than the KL of their traces; a tenth of a nat can shift a mean by nearly half a standard
// deviation.
inline constexpr double kMostKl = 0.1;

// Of a training's end; none if it is unfinished or nothing was held out.
std::vector<std::string> training_warnings(const Progress& last, bool infers);
// How good the network is on held-out traces, against what it must beat, and whether it had learned
// what there was to learn. `course`: the reports of the training, in order. Empty if nothing was
// held out, or the training is unfinished.
std::string training_verdict(const std::vector<Progress>& course, const Progress& last,
                             bool infers);
// Of what the engine itself can tell.
std::vector<std::string> posterior_warnings(const PosteriorSummary& summary);
// Of observations that lie so far out among those of the network's training.
std::vector<std::string> observation_warnings(const std::string& network, double remoteness,
                                              const RemoteObservation& usual);
// Of observations that did not weigh the traces as somebody may have meant.
std::vector<std::string> observation_use_warnings(const ObservationsUse& use);
// Of runs that are left out.
std::vector<std::string> failure_warnings(const Failures& failures);
// Of a surrogate's runs; `model` is its file. None for another model.
std::vector<std::string> surrogate_warnings(const std::string& model, const RunReport& report);

}  // namespace psn::services
