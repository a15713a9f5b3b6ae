#include "psn/services/warnings.h"

#include <fmt/format.h>

#include <cmath>
#include <span>

namespace psn::services {
namespace {

struct Mean {
  double value = 0, standard_error = 0;
};

Mean mean_of(std::span<const double> values) {
  double sum = 0, squares = 0;
  for (const double x : values) sum += x;
  const auto n = static_cast<double>(values.size());
  for (const double x : values) squares += (x - sum / n) * (x - sum / n);
  return {sum / n, std::sqrt(squares / (n - 1) / n)};
}

// Whether the loss still fell when training ended, from its third quarter to its last.
std::string trend(const std::vector<Progress>& course, bool infers) {
  constexpr std::size_t kFewest = 12;  // reports; fewer tell nothing of a quarter's scatter
  constexpr double kNotable = 0.01;    // nats
  if (course.size() < kFewest) return "";
  std::vector<double> losses;
  for (const Progress& p : course) losses.push_back(infers ? p.loss : p.kl);
  const std::size_t quarter = losses.size() / 4;
  const std::span<const double> all(losses);
  const Mean before = mean_of(all.last(2 * quarter).first(quarter)),
             after = mean_of(all.last(quarter));
  const double drop = before.value - after.value;
  if (drop > kNotable && drop > 2 * std::hypot(before.standard_error, after.standard_error)) {
    return fmt::format(
        "; its loss still fell, by {:.2g} nats in the last quarter of the training: more `traces` "
        "will help",
        drop);
  }
  return "; its loss hardly fell in the last quarter of the training: more `traces` alone will "
         "help little";
}

}  // namespace

std::string training_verdict(const std::vector<Progress>& course, const Progress& last,
                             bool infers) {
  if (!last.finished || !last.validation) return "";
  const Validation& held_out = *last.validation;
  if (infers) {
    const double gain = held_out.prior_loss - held_out.loss;
    const std::string linear = held_out.linear_loss
                                   ? fmt::format(" (linear regressions would be by {:.3g})",
                                                 held_out.prior_loss - *held_out.linear_loss)
                                   : "";
    return fmt::format("its proposals are {:.3g} nats per trace better than the prior's{}{}", gain,
                       linear, trend(course, true));
  }
  if (held_out.kl > kMostKl) return "not good enough for inference" + trend(course, false);
  return fmt::format("good: within {} nats per trace of the simulator", kMostKl);
}

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
  if (infers && !learned_nothing(held_out) && below_linear(held_out)) {
    warnings.push_back(fmt::format(
        "the network proposes worse than linear regressions on the observations would (held-out "
        "loss {:.4f} nats per trace, theirs {:.4f}): it has not learned yet what they tell; train "
        "longer (`traces`, `from`), with more updates (`batch_size`) or wider layers "
        "(`observation_layers` hidden_dim=128)",
        held_out.loss, *held_out.linear_loss));
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
  // A tail may look heavy where it weighs nothing, for instance if weights have few values: no
  // trace has more of the weight than 1 / sqrt(ESS).
  const bool tail_counts = !(summary.ess > static_cast<double>(summary.samples) / 4);
  if (summary.chains == 0 && summary.khat > summary.khat_threshold && tail_counts) {
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

std::vector<std::string> observation_warnings(const std::string& network, double remoteness,
                                              const RemoteObservation& usual) {
  if (remoteness <= usual.remoteness) return {};
  return {fmt::format(
      "the observations are unlike those that '{}' was trained on: one of them lies {:.3g} "
      "deviations out, where hardly any of {} held-out runs came beyond {:.3g}; look at its value "
      "and unit; if it is right, the model can hardly explain it, and what the network proposes is "
      "a guess (`defensive` 0.1 guards weighted samples)",
      network, remoteness, usual.traces, usual.remoteness)};
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

std::vector<std::string> observation_use_warnings(const ObservationsUse& use) {
  std::vector<std::string> warnings;
  if (use.prior) {
    warnings.emplace_back("nothing was observed, so this is the prior: `observations` NAME=VALUE");
  }
  const auto warn = [&](double share, const std::string& what) {
    constexpr double kWorthAWord = 0.01;  // of the weight
    if (share <= kWorthAWord) return;
    warnings.push_back(fmt::format("traces with {:.3g} % of the weight {}", 100 * share, what));
  };
  for (const ObservationUse& observation : use.observations) {
    const std::string& name = observation.name;
    if (observation.values > 0) {
      warn(observation.unused,
           fmt::format("never came to the observation '{}', and were not weighed by it", name));
    }
    warn(observation.partly_used, fmt::format("used only some of the {} values of the observation "
                                              "'{}'",
                                              observation.values, name));
    warn(observation.used_twice,
         fmt::format("used one value of the observation '{}' at two addresses", name));
  }
  return warnings;
}

std::vector<std::string> failure_warnings(const Failures& failures) {
  if (failures.runs == 0) return {};
  return {fmt::format(
      "{} runs failed ({}) and are left out, which biases the result if failing has to do with the "
      "variables; the last: {}",
      failures.runs, failures.causes(), failures.last)};
}

}  // namespace psn::services
