#include "psn/services/warnings.h"

#include <fmt/format.h>

#include <cmath>

namespace psn::services {

std::vector<std::string> training_warnings(const Progress& last, bool infers) {
  if (!last.finished || !last.validation) return {};
  const Validation& held_out = *last.validation;
  std::vector<std::string> warnings;
  if (infers && learned_nothing(held_out)) {
    warnings.push_back(fmt::format(
        "the network proposes no better than the prior (held-out loss {:.4f} nats per trace, the "
        "prior's {:.4f}): train longer (`traces`), with smaller or more updates (`learning_rate`, "
        "`batch_size`) or wider layers (`observation_layers` hidden_dim=128); or the observations "
        "tell nothing of what is to be inferred",
        held_out.loss, held_out.prior_loss));
  }
  if (!infers && held_out.kl > kMostKl) {
    warnings.push_back(
        fmt::format("the surrogate is {:.3g} nats per trace from the simulator (above {}), so its "
                    "posteriors may be far off: train longer (`traces`, `from`), with more updates "
                    "(`batch_size`) or a larger network (`lstm_dim`), look where it differs (psn "
                    "compare), or correct its posteriors (psn infer --correct)",
                    held_out.kl, kMostKl));
  }
  return warnings;
}

std::vector<std::string> posterior_warnings(const PosteriorSummary& summary) {
  if (summary.approximate) return {};
  std::vector<std::string> warnings;
  if (summary.chains == 0 && summary.khat > summary.khat_threshold) {
    warnings.push_back(fmt::format(
        "Pareto k-hat {:.2f} is above {:.2f}: a few traces carry most of the weight, so these "
        "estimates are unreliable; use more traces or another engine",
        summary.khat, summary.khat_threshold));
  }
  if (summary.ess < 50) {
    warnings.push_back(fmt::format(
        "the effective sample size is only {:.0f}: these estimates are unreliable", summary.ess));
  } else if (std::isnan(summary.ess)) {
    warnings.emplace_back(
        "the effective sample size is not known: the samples are too few, or never change");
  }
  if (summary.chains > 0 && summary.rhat > 1.05) {
    warnings.push_back(fmt::format(
        "split R-hat {:.3f} is above 1.05: the chains disagree; use more samples or burn-in",
        summary.rhat));
  }
  return warnings;
}

std::vector<std::string> surrogate_warnings(const std::string& model, const RunReport& report) {
  if (!report.surrogate) return {};
  const auto& kl = report.surrogate->kl;
  if (!kl) {
    return {fmt::format(
        "how far '{}' is from its simulator is not known (its training had no held-out traces): "
        "see psn compare",
        model)};
  }
  if (kl->nats <= kMostKl) return {};
  return {fmt::format(
      "'{}' is {:.3g} nats per trace from its simulator (above {}), so its traces and posteriors "
      "may be far off: train it longer, look where it differs (psn compare), or correct a "
      "posterior (psn infer --correct)",
      model, kl->nats, kMostKl)};
}

}  // namespace psn::services
