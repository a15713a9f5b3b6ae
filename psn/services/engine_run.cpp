#include "psn/services/engine_run.h"

#include "psn/infer/delayed_acceptance.h"
#include "psn/infer/importance.h"
#include "psn/infer/metropolis.h"
#include "psn/infer/pseudo_marginal.h"
#include "psn/services/inference_job.h"
#include "psn/services/ranks.h"

namespace psn::services {
namespace {

Posterior run_importance(const EngineRun& run, EngineFigures& figures) {
  EngineOptions own = run.engine;
  const RankPart part = own_part(run.host.ranks(), own.samples);
  own.first = part.first;
  own.samples = part.count;
  figures.traces = run.engine.samples;
  figures.approximate = run.job.engine == Engine::kNetwork;
  const auto engine = figures.approximate ? guided_draws : importance_sampling;
  return joined(run.host.ranks(), engine(run.simulator, run.job.observations, own, run.guide));
}

MetropolisOptions chain_options(const EngineRun& run) {
  MetropolisOptions options;
  static_cast<EngineOptions&>(options) = run.engine;
  options.chains = run.job.chains;
  options.thinning = run.job.thinning;
  options.random_walk = run.job.engine != Engine::kPriorMoves;
  options.burn_in = run.looks ? run.looks->burn_in() : burn_in(run.job);
  if (!run.looks) return options;
  options.start_attempts = run.looks->start_attempts();
  options.stride = std::uint64_t{1} << 32;  // of chains as long as it takes
  return options;
}

Posterior run_delayed(const EngineRun& run, EngineFigures& figures, InferenceResult& result) {
  DelayedOptions own;
  static_cast<MetropolisOptions&>(own) = chain_options(run);
  own.surrogates = run.levels->levels();
  own.most_moves = run.job.moves;
  own.fresh_share = run.job.fresh;
  DelayedResult delayed = delayed_acceptance(run.simulator, run.job.observations, own);
  figures.traces = delayed.iterations;
  figures.acceptance = delayed.acceptance;
  result.delayed = {delayed.moves, delayed.longest_stay, delayed.khat};
  return std::move(delayed.posterior);
}

Posterior run_marginal(const EngineRun& run, EngineFigures& figures, InferenceResult& result) {
  MarginalOptions own;
  static_cast<MetropolisOptions&>(own) = chain_options(run);
  own.parameters = run.job.parameters;
  own.surrogate = run.levels ? run.levels->first() : nullptr;
  own.most_moves = run.job.moves;
  own.fresh_share = run.job.fresh;
  if (run.looks) run.looks->limit(own);
  MarginalResult marginal = pseudo_marginal(run.simulator, run.job.observations, own);
  figures.traces = marginal.iterations;
  figures.acceptance = marginal.acceptance;
  result.marginal = {marginal.runs, marginal.variance, marginal.moves, marginal.longest_stay};
  return std::move(marginal.posterior);
}

// All chains, of which this rank runs a part.
Posterior run_chains(const EngineRun& run, EngineFigures& figures) {
  Communicator& ranks = run.host.ranks();
  const RankPart part = own_part(ranks, run.job.chains);
  MetropolisOptions own = chain_options(run);
  own.first = part.first;
  own.chains = part.count;
  if (!run.looks) own.samples = per_chain(run.job) * part.count;
  MetropolisResult result{Posterior(own.queries, 0)};
  if (part.count > 0) result = metropolis_hastings(run.simulator, run.job.observations, own);
  // Chains are of equal length.
  double sums[] = {result.acceptance * static_cast<double>(part.count),
                   static_cast<double>(result.iterations)};
  ranks.sum(sums);
  figures.traces = static_cast<std::uint64_t>(sums[1]);
  figures.acceptance = sums[0] / static_cast<double>(run.job.chains);
  return joined(ranks, std::move(result.posterior));
}

}  // namespace

Posterior run_engine(const EngineRun& run, EngineFigures& figures, InferenceResult& result) {
  switch (*run.job.engine) {
    case Engine::kImportance:
    case Engine::kCompiled:
    case Engine::kNetwork:
      return run_importance(run, figures);
    case Engine::kDelayed:
      return run_delayed(run, figures, result);
    case Engine::kMarginal:
      return run_marginal(run, figures, result);
    case Engine::kPriorMoves:
    case Engine::kRandomWalk:
      break;
  }
  return run_chains(run, figures);
}

}  // namespace psn::services
