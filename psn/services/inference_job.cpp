#include "psn/services/inference_job.h"

#include <fmt/format.h>

#include "psn/base/error.h"
#include "psn/services/inference_network.h"
#include "psn/services/stopping.h"

namespace psn::services {

std::uint64_t per_chain(const InferenceJob& job) {
  return (job.simulation.count + job.chains - 1) / job.chains;
}

std::uint64_t burn_in(const InferenceJob& job) {
  return job.burn_in.value_or(per_chain(job) * job.thinning / 10);
}

std::uint64_t traces_of(const InferenceJob& job) {
  if (!job.until.empty()) return job.max_runs.value_or(0);
  if (job.engine == Engine::kMarginal) return 0;
  if (!job.has_chains()) return job.simulation.count;
  return job.chains * (burn_in(job) + per_chain(job) * job.thinning);
}

namespace {

// Of what moves in surrogates, or some latents only.
void check_moves(const InferenceJob& job, const Communicator& ranks) {
  const bool delayed = job.engine == Engine::kDelayed, marginal = job.engine == Engine::kMarginal;
  if (delayed && job.surrogates.empty()) {
    throw InvalidArgument("`engine` da needs a surrogate to move in: `surrogate` s.psn");
  }
  if (!delayed && !marginal && !job.surrogates.empty()) {
    throw InvalidArgument("`surrogate` is for `engine` da or pm");
  }
  if (marginal && job.surrogates.size() > 1) {
    throw InvalidArgument("`engine` pm moves in one `surrogate`");
  }
  if (job.correct == 0 && marginal == job.parameters.empty()) {
    throw InvalidArgument(marginal ? "`engine` pm needs latents to move: `parameters` NAME,NAME"
                                   : "`parameters` are for `engine` pm or da, and for `correct`");
  }
  if ((delayed || marginal) && !ranks.alone()) {
    throw InvalidArgument("`engine` da and pm run in one process, without mpirun");
  }
}

}  // namespace

void check_job(const InferenceJob& job, const Communicator& ranks) {
  const std::uint64_t count = job.simulation.count;
  if (job.has_chains() && job.chains > count) {
    throw InvalidArgument(fmt::format("`chains` {} is more than `count` {}", job.chains, count));
  }
  if (job.has_network() == job.network.empty()) {
    throw InvalidArgument(
        job.network.empty()
            ? "`engine` ic or network needs an inference network: `network` FILE.psn"
            : "`network` is for `engine` ic or network");
  }
  if (job.defensive > 0 && job.engine != Engine::kCompiled) {
    throw InvalidArgument("`defensive` is for `engine` ic");
  }
  check_moves(job, ranks);
  if (!job.keep.empty() && (job.engine != Engine::kImportance || job.correct > 0 || job.resume ||
                            !job.held.values().empty() || !ranks.alone())) {
    throw InvalidArgument(
        "`keep` is for `engine` is, whose runs are of the prior, in one process, without `held` "
        "latents; it goes on by itself, without `resume`");
  }
  if (job.stops_early()) {
    if (!ranks.alone()) {
      throw InvalidArgument("`until` and `max_runs` run in one process, without mpirun");
    }
    check_stopping(job);
  }
  if (job.correct == 0) return;
  if (job.resume) throw InvalidArgument("`resume` does not go with `correct`");
  if (!ranks.alone()) throw InvalidArgument("`correct` runs in one process, without mpirun");
  if (!job.simulation.model.ends_with(".psn") || job.surrogate.simulator.empty()) {
    throw InvalidArgument(
        "`correct` is for a surrogate, and needs the model it stands for: `simulator` MODEL");
  }
  if (job.has_chains() || job.engine == Engine::kNetwork ||
      job.surrogate.unknown != SurrogateOptions::Unknown::kRenormalise) {
    throw InvalidArgument("`correct` goes with `engine` is or ic, and `unknown` renormalise");
  }
}

bool answers_alone(const InferenceJob& job) {
  return !job.network.empty() && job.network == job.simulation.model;
}

InferenceJob completed(InferenceJob job) {
  const std::string& model = job.simulation.model;
  if (is_inference_network(model)) {
    if (job.engine && *job.engine != Engine::kNetwork) {
      throw InvalidArgument(fmt::format(
          "'{}' is an inference network, and alone has an answer of its own only (`engine` "
          "network): to weigh runs, give the model or its surrogate, and this as `network`",
          model));
    }
    if (!job.network.empty() && job.network != model) {
      throw InvalidArgument(
          fmt::format("'{}' and `network` '{}' are two inference networks, and there is no model",
                      model, job.network));
    }
    job.engine = Engine::kNetwork;
    job.network = model;
  }
  const bool moves = !job.parameters.empty() && job.correct == 0;
  if (moves && (!job.engine || job.engine == Engine::kDelayed)) {
    job.engine = Engine::kMarginal;
  }
  if (!job.engine) job.engine = Engine::kImportance;
  return job;
}

}  // namespace psn::services
