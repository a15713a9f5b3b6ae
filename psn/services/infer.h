// The posterior of a model given observations, as a person asks for it: by an exact engine, or as
// an inference network has it, in the model or in its surrogate, corrected to the model if wanted;
// what is interrupted can go on.
//
// The model may be an inference network's own file, if its program has no branches: it then answers
// alone, by Engine::kNetwork.
//
// Blocking. With several ranks each calls infer() with the same job; rank 0 has the result.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "psn/core/observations.h"
#include "psn/core/posterior.h"
#include "psn/infer/draws.h"
#include "psn/services/observation_use.h"
#include "psn/services/posterior_summary.h"
#include "psn/services/run_report.h"
#include "psn/services/simulators.h"

namespace psn::services {

enum class Engine {
  kImportance,  // proposals from the prior
  kCompiled,    // proposals of an inference network
  kNetwork,     // the same as they are, without weights: approximate
  kPriorMoves,  // Metropolis-Hastings (LMH)
  kRandomWalk,  // the same with random-walk moves (RMH)
  kDelayed,     // moves inside surrogates, accepted or rejected by runs of the model
  kMarginal,    // moves of some latents, by estimates of their density (pseudo-marginal)
};

struct InferenceResult;

struct InferenceJob {
  SimulationOptions simulation;  // `count`: samples, of all chains together
  SurrogateUse surrogate;
  // nullopt: importance sampling, or the answer of the network that `simulation.model` is.
  std::optional<Engine> engine;
  Observations observations;
  Observations held;                 // latents to hold at a value, without weighing it
  std::vector<std::string> queries;  // by name or address; none: all that every trace has
  // Of Markov chains.
  std::size_t chains = 4;
  std::optional<std::uint64_t> burn_in;  // iterations of each; nullopt: a tenth
  std::uint64_t thinning = 1;
  std::string network;  // of the compiled engine, and of the network's own answer
  // Of pseudo-marginal chains: the latents that are moved, by name, address or list; all others are
  // drawn by the model. With them `engine` da is kMarginal, and so is nullopt. Of a correction:
  // those that are proposed.
  std::vector<std::string> parameters;
  // Of delayed acceptance, and of pseudo-marginal chains, which may have one.
  std::vector<std::string> surrogates;  // files, the coarsest first
  std::uint64_t moves = 200;            // inside a surrogate, at most, for one of the next level
  double fresh = 0.05;                  // share of proposals that are whole new runs of the model
  double defensive = 0;  // of the compiled engine: share of traces drawn from the model
  // For a surrogate: so many samples are run again in surrogate.simulator, and weighed to be its
  // posterior; 0: none.
  std::uint64_t correct = 0;
  std::size_t draws = 0;  // samples of which all latents are kept
  // Goes on until all of these hold, with a look every simulation.count samples or more:
  // "ess=1000", "ess(x) > 400", "mcse(x) < 0.01", "rhat < 1.01"; none: simulation.count samples.
  std::vector<std::string> until;
  std::optional<std::uint64_t> max_runs;  // of the model, at most
  // A trace store of runs of the prior, which are used again, and added to (importance sampling);
  // empty: none.
  std::string keep;

  // The folder of the results: what is interrupted is kept beside it. Empty: nothing is.
  std::string out;
  std::string config;   // all options as TOML, to tell unfinished work from other work
  bool resume = false;  // go on with what is unfinished, if there is
  // Called with the result on rank 0 while `out` is still locked, before unfinished work is
  // forgotten: writes what is to be written.
  std::function<void(const InferenceResult&)> save;

  bool stops_early() const { return !until.empty() || max_runs.has_value(); }
  bool has_chains() const {
    return engine == Engine::kPriorMoves || engine == Engine::kRandomWalk ||
           engine == Engine::kDelayed || engine == Engine::kMarginal;
  }
  bool has_network() const { return engine == Engine::kCompiled || engine == Engine::kNetwork; }
};

struct CorrectionFigures {
  std::uint64_t runs = 0;
  double ess_before = 0, khat_before = 0;  // of the surrogate's posterior
  double seconds = 0;
  std::uint64_t diverged = 0;  // runs that took another path
  Failures failures;
};

// Of an inference that was to stop early: at which looks it could, and why it did.
struct StoppingFigures {
  enum class Reason { kPrecision, kRuns, kSamples };  // conditions hold, or what was spent
  struct Condition {
    std::string text;
    double figure = 0;
    bool holds = false;
  };
  Reason reason = Reason::kSamples;
  std::uint64_t every = 0;            // samples between looks, at least
  std::vector<Condition> conditions;  // at the last look
};

struct DelayedFigures {
  std::vector<double> moves;       // inside each surrogate for one of the next level
  std::uint64_t longest_stay = 0;  // iterations in one state
  double khat = 0;                 // of the weights between the first surrogate and the model
};

struct KeptFigures {
  std::uint64_t found = 0, runs = 0;  // that were in the store before; that are there now
};

struct MarginalFigures {
  double runs = 0;      // of the model for one estimate
  double variance = 0;  // of the logarithm of the estimates, about
  double moves = 0;     // inside the surrogate for one estimate in the model; 0: there is none
  std::uint64_t longest_stay = 0;
};

struct InferenceResult {
  std::string model;  // as it calls itself
  Engine engine = Engine::kImportance;
  Posterior posterior{{}, 0};
  PosteriorSummary summary;
  ObservationsUse use;
  std::optional<Draws> draws;
  std::optional<CorrectionFigures> correction;
  std::optional<DelayedFigures> delayed;
  std::optional<MarginalFigures> marginal;
  std::optional<StoppingFigures> stopped;
  std::optional<KeptFigures> kept;
  std::vector<std::string> learned;  // columns that are a surrogate's tags
  RunReport report;
  // Of the simulator itself: behind the samples (those of a surrogate cost none, those that were
  // lost in an interruption count), and those that only looked what it is like.
  std::uint64_t simulator_runs = 0, survey_runs = 0;
  std::vector<std::string> warnings;  // what it should not be taken for
};

// Throws InvalidArgument for a job that cannot be done, for names that the model does not have and
// for observations that cannot be meant; DataError, ModelError and ProtocolError as their names
// say; InterruptedWork when the host says stop.
InferenceResult infer(const InferenceJob& job, Host& host);

// As it is kept beside a posterior; psn infer --observations reads it.
std::string observations_json(const Observations& observations);

}  // namespace psn::services
