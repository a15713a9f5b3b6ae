// The zoo on trial: programs that psn was not made for, trained with the default options within a
// budget, and judged by answers that owe nothing to psn.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/zoo/zoo.h"
#include "psn/services/host.h"

namespace psn::zoo {

struct TrialRequest {
  double budget = 300;  // seconds of training for each program, half for each network
  // Or: both networks learn from so many stored runs, again and again; 0: from as many as the
  // budget allows, each once.
  std::uint64_t runs = 0;
  std::uint64_t samples = 10'000;  // of each posterior
  std::uint64_t seed = 0;
  std::string directory;  // networks and results are kept there, and used when asked for again
  std::function<void(const std::string& line)> status;  // optional: what is being done
};

// How one program fared. Errors are those of posterior means, the worst of all that is judged, in
// units of the posterior's sd; shares are of the samples.
struct Trial {
  std::string program;
  std::uint64_t runs = 0;  // of the simulator, for both trainings
  double length = 0;       // choices in a trace
  double kl = 0;           // of the surrogate, nats per trace
  struct Inferred {
    double error = 0, ess = 0;
  };
  Inferred simulator, surrogate;  // inference compilation in either
  // Accuracy of a classifier that tells draws from those of the answer: the network's own, and the
  // weighted ones in the simulator (of an ESS of at least 100).
  std::optional<double> c2st_network, c2st_weighted;
  std::vector<std::string> warnings;
  double seconds = 0;  // of training

  double kl_per_choice() const { return kl / length; }
  // Was there something to warn of?
  bool deserves_warning() const;
  bool silent_failure() const { return deserves_warning() && warnings.empty(); }
  bool false_alarm() const { return !deserves_warning() && !warnings.empty(); }
};

// Throws what services do, and Interrupted; what is done by then stays in the directory.
Trial run_trial(const Program& program, const TrialRequest& request, services::Host& host);

// A table with what it comes to, for people; and all of it as JSON.
std::string trials_text(const std::vector<Trial>& trials);
std::string trials_json(const std::vector<Trial>& trials, const TrialRequest& request);

}  // namespace psn::zoo
