// The results as files: results.json, and the data of each figure.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/control_flow/results.h"

namespace psn::control_flow {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kQuantiles{std::pair("q05", 0.05), std::pair("q25", 0.25),
                                std::pair("q50", 0.5), std::pair("q75", 0.75),
                                std::pair("q95", 0.95)};
constexpr std::size_t kBins = 50;

// KL from the exact posterior, over bins of theta.
double kl_from_exact(const Posterior& posterior, const ExactPosterior& exact) {
  std::vector<double> inferred(kBins, 0.0);
  const auto weights = posterior.weights();
  const auto& theta = posterior.column("theta").data;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    inferred[std::min(kBins - 1, static_cast<std::size_t>(theta[i] * kBins))] += weights[i];
  }
  const std::vector<double> expected = exact.histogram(kBins);
  double kl = 0;
  for (std::size_t b = 0; b < kBins; ++b) {
    // Half a sample in an empty bin keeps the sum finite.
    const double q = std::max(inferred[b], 0.5 / static_cast<double>(weights.size()));
    if (expected[b] > 0) kl += expected[b] * std::log(expected[b] / q);
  }
  return kl;
}

Json exact_json(const ExactPosterior& exact) {
  Json json{{"mean", exact.mean()}, {"sd", exact.sd()}};
  for (const auto& [name, p] : kQuantiles) json[name] = exact.quantile(p);
  json["ess"] = nullptr;
  return json;
}

Json posterior_json(const Inferred& inferred, const ExactPosterior& exact) {
  const Posterior& posterior = inferred.posterior;
  Json json{{"mean", posterior.mean("theta")}, {"sd", std::sqrt(posterior.variance("theta"))}};
  for (const auto& [name, p] : kQuantiles) json[name] = posterior.quantile("theta", p);
  json["ess"] = inferred.ess;
  json["samples"] = posterior.size();
  json["kl_from_exact"] = kl_from_exact(posterior, exact);
  return json;
}

// P(c_0 = 1 | theta) should be theta; the largest deviation in the tenths from 0.1 to 0.6.
Json go_on_json(const Results& results, std::string& csv) {
  const auto simulator = binned_means(results.simulator.go_on, 0, 1, 10);
  const auto surrogate = binned_means(results.surrogate_traces.go_on, 0, 1, 10);
  csv = "theta_low,theta_high,theta_mean,simulator,surrogate,surrogate_standard_error\n";
  double largest = 0;
  for (std::size_t b = 0; b < simulator.size(); ++b) {
    csv += fmt::format("{},{},{},{},{},{}\n", simulator[b].low, simulator[b].high,
                       surrogate[b].by_mean, simulator[b].mean, surrogate[b].mean,
                       surrogate[b].standard_error);
    if (b >= 1 && b < 6) {
      largest = std::max(largest, std::abs(surrogate[b].mean - surrogate[b].by_mean));
    }
  }
  return largest;
}

std::string loops_csv(const Results& results) {
  std::string csv = "loops,simulator_traces,surrogate_traces,simulator_mean_x,surrogate_mean_x\n";
  for (const auto& [loops, simulator] : results.simulator.x_by_loops) {
    const auto found = results.surrogate_traces.x_by_loops.find(loops);
    const auto surrogate = found == results.surrogate_traces.x_by_loops.end()
                               ? std::pair<std::uint64_t, double>{0, 0}
                               : found->second;
    const auto mean = [](const auto& sum) {
      return sum.first ? fmt::format("{}", sum.second / static_cast<double>(sum.first)) : "";
    };
    csv += fmt::format("{},{},{},{},{}\n", loops, simulator.first, surrogate.first, mean(simulator),
                       mean(surrogate));
  }
  return csv;
}

std::string transitions_csv(const std::vector<TransitionDeviation>& transitions) {
  std::string csv = "from,to,simulator,surrogate,difference,standard_error\n";
  for (const auto& t : transitions) {
    csv += fmt::format("{},{},{},{},{},{}\n", t.from, t.to, t.probability[0], t.probability[1],
                       t.difference(), t.standard_error());
  }
  return csv;
}

// The largest deviation of transitions above 1 %.
double largest_deviation(const std::vector<TransitionDeviation>& transitions) {
  double largest = 0;
  for (const auto& t : transitions) {
    if (t.probability[0] > 0.01) largest = std::max(largest, std::abs(t.difference()));
  }
  return largest;
}

// The same of how often they are taken, per trace.
double largest_frequency_deviation(const std::vector<TransitionDeviation>& transitions) {
  double largest = 0;
  for (const auto& t : transitions) {
    largest = std::max(largest, std::abs(t.frequency[1] - t.frequency[0]));
  }
  return largest;
}

std::string curve_csv(const TrainedNetwork& trained) {
  std::string csv =
      "traces,updates,loss,kl_nats_per_trace,learning_rate,addresses,traces_per_second\n";
  for (const auto& [p, measured] : trained.curve) {
    csv += fmt::format("{},{},{},{},{},{},{:.0f}\n", p.traces, p.batches, p.loss,
                       trained.network->infers() ? "" : fmt::format("{}", p.kl), p.rate,
                       p.addresses, p.traces_per_second);
  }
  return csv;
}

std::string resampled_csv(const Posterior& posterior, std::uint64_t seed) {
  Rng rng(seed, 0, 0x626f78);
  const Posterior resampled = posterior.resample(10'000, rng);
  std::string csv = "theta\n";
  for (const double theta : resampled.column("theta").data) csv += fmt::format("{}\n", theta);
  return csv;
}

std::string exact_csv(const ExactPosterior& exact) {
  std::string csv = "theta_low,theta_high,probability\n";
  const auto probabilities = exact.histogram(kBins);
  for (std::size_t b = 0; b < kBins; ++b) {
    csv += fmt::format("{},{},{}\n", static_cast<double>(b) / kBins,
                       static_cast<double>(b + 1) / kBins, probabilities[b]);
  }
  return csv;
}

std::string summary(const Json& json) {
  std::string text = fmt::format("posterior of theta given x = {}\n{:>14} {:>8} {:>8}", kObserved,
                                 "", "mean", "sd");
  for (const auto& [name, p] : kQuantiles) text += fmt::format(" {:>7.0f}%", 100 * p);
  text += fmt::format(" {:>8} {:>10} {:>11}\n", "ESS", "of", "traces/s");
  const auto& speeds = json["traces_per_second"];
  for (const auto& [name, column] : json["posterior"].items()) {
    text += fmt::format("{:>14} {:>8.4f} {:>8.4f}", name, column["mean"].get<double>(),
                        column["sd"].get<double>());
    for (const auto& [quantile, p] : kQuantiles) {
      text += fmt::format(" {:>8.4f}", column[quantile].get<double>());
    }
    if (!column["ess"].is_null()) {
      text += fmt::format(" {:>8.0f} {:>10} {:>11.0f}", column["ess"].get<double>(),
                          column["samples"].get<std::uint64_t>(), speeds[name].get<double>());
    }
    text += "\n";
  }
  const auto number = [&](const char* key) { return json[key].get<double>(); };
  text += fmt::format(
      "surrogate: KL from the simulator {:.4f} +- {:.4f} nats per trace\n"
      "  largest deviation of a transition {:.4f} (simulator against itself {:.4f})\n"
      "  total variation of paths {:.4f} (simulator against itself {:.4f})\n"
      "  P(c_0 = 1 | theta) off by at most {:.4f} in tenths of theta from 0.1 to 0.6\n"
      "  {:.0f} traces/s; simulator {:.0f}\n",
      number("kl_nats_per_trace"), number("kl_standard_error"), number("max_transition_deviation"),
      number("max_transition_deviation_floor"), number("path_total_variation"),
      number("path_total_variation_floor"), number("max_go_on_deviation"),
      speeds["surrogate"].get<double>(), speeds["simulator"].get<double>());
  return text;
}

}  // namespace

ExperimentReport write_report(const Results& results, const ExperimentRequest& request) {
  const ExactPosterior exact(kObserved);
  ExperimentReport report;
  constexpr std::uint64_t kMinDepartures = 1000;
  const auto deviations = transition_deviations(
      results.simulator.transitions, results.surrogate_traces.transitions, kMinDepartures);
  const auto floor = transition_deviations(results.simulator.transitions,
                                           results.simulator_again.transitions, kMinDepartures);
  std::string go_on_csv;
  Json json{{"kind", "experiment"},
            {"preset", request.preset},
            {"seed", request.seed},
            {"quick", request.quick}};
  json["posterior"] = {{"exact", exact_json(exact)},
                       {"lmh", posterior_json(*results.lmh, exact)},
                       {"ic_simulator", posterior_json(*results.ic_simulator, exact)},
                       {"ic_surrogate", posterior_json(*results.ic_surrogate, exact)}};
  json["kl_nats_per_trace"] = results.deviation.kl;
  json["kl_standard_error"] = results.deviation.standard_error;
  json["unknown_mass"] = results.deviation.unknown_mass;
  json["max_transition_deviation"] = largest_deviation(deviations);
  json["max_transition_deviation_floor"] = largest_deviation(floor);
  json["max_transition_frequency_deviation"] = largest_frequency_deviation(deviations);
  json["path_total_variation"] =
      PathCounts::total_variation(results.simulator.paths, results.surrogate_traces.paths);
  json["path_total_variation_floor"] =
      PathCounts::total_variation(results.simulator.paths, results.simulator_again.paths);
  json["max_go_on_deviation"] = go_on_json(results, go_on_csv);
  json["traces_per_second"] = {{"simulator", results.simulator.traces_per_second},
                               {"surrogate", results.surrogate_traces.traces_per_second},
                               {"ic_simulator", results.ic_simulator->traces_per_second},
                               {"ic_surrogate", results.ic_surrogate->traces_per_second},
                               {"lmh", results.lmh->traces_per_second}};
  report.results = json.dump(2) + "\n";
  report.summary = summary(json);
  report.files["results.json"] = report.results;
  report.files["posterior_exact.csv"] = exact_csv(exact);
  report.files["posterior_lmh.csv"] = resampled_csv(results.lmh->posterior, request.seed);
  report.files["posterior_ic_simulator.csv"] =
      resampled_csv(results.ic_simulator->posterior, request.seed);
  report.files["posterior_ic_surrogate.csv"] =
      resampled_csv(results.ic_surrogate->posterior, request.seed);
  report.files["transitions.csv"] = transitions_csv(deviations);
  report.files["transitions_simulator.dot"] = results.simulator.transitions.to_dot(0.01);
  report.files["transitions_surrogate.dot"] = results.surrogate_traces.transitions.to_dot(0.01);
  report.files["go_on_given_theta.csv"] = go_on_csv;
  report.files["x_given_loops.csv"] = loops_csv(results);
  report.files["learning_surrogate.csv"] = curve_csv(results.surrogate);
  report.files["learning_inference.csv"] = curve_csv(results.inference);
  return report;
}

}  // namespace psn::control_flow
