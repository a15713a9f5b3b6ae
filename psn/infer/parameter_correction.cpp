#include "psn/infer/parameter_correction.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/infer/marginal_runs.h"
#include "psn/infer/parameter_density.h"

namespace psn {
namespace {

constexpr std::size_t kMostKernels = 1'000;
constexpr std::uint64_t kRunsAtOnce = 256;
constexpr std::uint32_t kKernels = 0x6b65726e, kProposals = 0x70726f70;  // substreams

// The density, and which addresses of the simulator its values belong to.
struct FittedParameters {
  std::vector<const Address*> addresses;
  std::optional<ParameterDensity> density;

  ParameterValues draw(Rng& rng) const {
    std::vector<Value> values = density->draw(rng);
    ParameterValues at;
    for (std::size_t i = 0; i < values.size(); ++i) {
      at.push_back({addresses[i], std::move(values[i])});
    }
    return at;
  }
  double log_density(const ParameterValues& at) const {
    std::vector<Value> values;
    for (const Address* address : addresses) {
      const auto found = std::find_if(
          at.begin(), at.end(), [&](const ParameterValue& p) { return p.address == address; });
      if (found == at.end()) return -kInfinity;
      values.push_back(found->value);
    }
    return density->log_density(values);
  }
};

FittedParameters fit(Simulator& simulator, const Posterior& surrogate,
                     const ParameterNames& parameters, std::uint64_t seed) {
  if (surrogate.traces().empty()) {
    throw InvalidArgument("a correction needs whole traces of the surrogate's posterior");
  }
  Rng rng(seed, 0, kKernels);
  const std::size_t kernels = std::min(kMostKernels, surrogate.size());
  // By address; most of the surrogate's traces have the same ones.
  using Texts = std::vector<std::string>;
  std::map<Texts, std::vector<std::size_t>> rows;
  const auto texts = [&](const Trace& trace) {
    Texts all;
    for (const ParameterValue& p : parameters.in(trace)) all.push_back(p.address->text);
    return all;
  };
  for (const std::size_t row : surrogate.resampled_rows(kernels, rng)) {
    rows[texts(surrogate.traces()[row])].push_back(row);
  }
  const auto most = std::max_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
  FittedParameters fitted;
  for (const std::string& text : most->first) {
    fitted.addresses.push_back(simulator.addresses().find(text));
    if (!fitted.addresses.back()) {
      throw ModelError("`parameters`: the simulator has no '" + text + "', its surrogate has");
    }
  }
  if (fitted.addresses.empty()) {
    throw ModelError("`parameters` must be latents that every run has: the surrogate's have none");
  }
  std::vector<std::vector<Value>> draws;
  std::vector<Distribution> priors;
  for (const std::size_t row : most->second) {
    std::vector<Value>& draw = draws.emplace_back();
    for (const Entry& entry : surrogate.traces()[row].entries) {
      if (entry.role != Role::kSample || entry.given || !parameters.has(*entry.address)) continue;
      draw.push_back(entry.value);
      if (draws.size() == 1) priors.push_back(*entry.distribution);
    }
  }
  fitted.density.emplace(priors, draws);
  return fitted;
}

}  // namespace

Posterior correct_parameters(Simulator& simulator, const Observations& observations,
                             const Posterior& surrogate, const ParameterCorrection& how,
                             const EngineOptions& options) {
  const ParameterNames parameters(how.parameters);
  const FittedParameters fitted = fit(simulator, surrogate, parameters, options.seed);
  RunOptions run_options = options.run_options(&observations);
  run_options.seed = seed_for(DrawsFor::kCorrection, options.seed);
  Posterior result(options.queries, options.samples, options.keep_traces);
  const auto settle = [&](std::uint64_t i, const MarginalEstimate& run) {
    double log_weight = run.log_weights[0];
    if (log_weight > -kInfinity) {
      log_weight -= log_add_exp(std::log1p(-how.prior_share) + fitted.log_density(run.at),
                                std::log(how.prior_share) + run.log_prior);
    }
    result.put(i, run.chosen, log_weight);
    if (options.draws) options.draws->offer(i, run.chosen, log_weight);
  };
  const Parallelism used = effective(options.parallelism, simulator, options.samples);
  std::atomic<std::uint64_t> next{0};
  on_threads(used.threads, [&](const std::atomic<bool>& cancelled) {
    const auto ensemble = simulator.ensemble(used.width);
    RunOptions own = run_options;
    own.cancelled = &cancelled;
    for (;;) {
      const std::uint64_t first = next.fetch_add(kRunsAtOnce);
      if (first >= options.samples || cancelled) return;
      std::vector<MarginalEstimate> runs(std::min(kRunsAtOnce, options.samples - first));
      std::vector<MarginalEstimate*> all;
      for (std::size_t k = 0; k < runs.size(); ++k) {
        Rng rng(run_options.seed, first + k, kProposals);
        if (rng.uniform() >= how.prior_share) runs[k].at = fitted.draw(rng);
        runs[k].first = {first + k};
        runs[k].strict = true;
        all.push_back(&runs[k]);
      }
      make_estimates(*ensemble, parameters, own, all);
      if (cancelled) return;
      for (std::size_t k = 0; k < runs.size(); ++k) settle(first + k, runs[k]);
    }
  });
  if (log_sum_exp(result.log_weights()) == -kInfinity) {
    throw ModelError(
        "no run of the simulator can have made the observations: nothing is left to "
        "correct with");
  }
  return result;
}

}  // namespace psn
