// Trials as a table and as JSON.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/zoo_trial/trial_json.h"
#include "psn/base/numerics.h"

namespace psn::zoo {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no word for what is not finite.
double number(const Json& json) {
  return json.is_null() ? kInfinity : json.get<double>();
}

Json inferred_json(const Trial::Inferred& inferred) {
  return {{"error_in_sd", inferred.error}, {"ess_share", inferred.ess}};
}

Trial::Inferred inferred_of(const Json& json) {
  return {number(json.at("error_in_sd")), number(json.at("ess_share"))};
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

std::string accuracy_text(const std::optional<double>& accuracy) {
  return accuracy ? fmt::format("{:.3f}", *accuracy) : "-";
}

const char* verdict(const Trial& trial) {
  if (trial.silent_failure()) return "SILENT";
  if (trial.false_alarm()) return "needless";
  return trial.warnings.empty() ? "-" : "deserved";
}

template <class Holds>
std::string share_text(const std::vector<Trial>& trials, const char* what, Holds holds) {
  return fmt::format("{:>3} of {} {}\n", std::count_if(trials.begin(), trials.end(), holds),
                     trials.size(), what);
}

}  // namespace

Json trial_json(const Trial& trial) {
  Json json{{"program", trial.program},
            {"simulator_runs", trial.runs},
            {"choices", trial.length},
            {"kl_nats_per_trace", trial.kl},
            {"kl_nats_per_choice", trial.kl_per_choice()},
            {"ic_in_simulator", inferred_json(trial.simulator)},
            {"ic_in_surrogate", inferred_json(trial.surrogate)}};
  if (trial.c2st_network) json["c2st_network"] = *trial.c2st_network;
  if (trial.c2st_weighted) json["c2st_weighted"] = *trial.c2st_weighted;
  json["warnings"] = trial.warnings;
  json["deserves_warning"] = trial.deserves_warning();
  json["training_seconds"] = trial.seconds;
  return json;
}

Trial trial_of(const Json& json) {
  Trial trial;
  trial.program = json.at("program");
  trial.runs = json.at("simulator_runs");
  trial.length = json.at("choices");
  trial.kl = number(json.at("kl_nats_per_trace"));
  trial.simulator = inferred_of(json.at("ic_in_simulator"));
  trial.surrogate = inferred_of(json.at("ic_in_surrogate"));
  if (json.contains("c2st_network")) trial.c2st_network = json["c2st_network"];
  if (json.contains("c2st_weighted")) trial.c2st_weighted = json["c2st_weighted"];
  trial.warnings = json.at("warnings");
  trial.seconds = json.at("training_seconds");
  return trial;
}

std::string trials_json(const std::vector<Trial>& trials, const TrialRequest& request) {
  Json json{{"kind", "zoo"},
            {"budget_seconds", request.budget},
            {"runs", request.runs},
            {"samples", request.samples},
            {"seed", request.seed}};
  json["trials"] = Json::array();
  for (const Trial& trial : trials) json["trials"].push_back(trial_json(trial));
  return json.dump(2) + "\n";
}

std::string trials_text(const std::vector<Trial>& trials) {
  std::string text =
      fmt::format("{:26} {:>9} {:>8} | {:>9} {:>9} {:>9} {:>8} | {:>9} {:>8} | {:>8} {:>8} | {}\n",
                  "", "", "choices", "surrogate", "", "error of", "ESS of", "error in", "ESS",
                  "C2ST of", "C2ST", "warn-");
  text +=
      fmt::format("{:26} {:>9} {:>8} | {:>9} {:>9} {:>9} {:>8} | {:>9} {:>8} | {:>8} {:>8} | {}\n",
                  "program", "runs", "a trace", "KL", "a choice", "means, sd", "IC", "simulator",
                  "of IC", "network", "weighted", "ing");
  for (const Trial& t : trials) {
    text += fmt::format(
        "{:26} {:>9} {:>8.1f} | {:>9.3g} {:>9.2g} {:>9.3f} {:>8} | {:>9.3f} {:>8} | {:>8} {:>8} | "
        "{}\n",
        t.program, t.runs, t.length, t.kl, t.kl_per_choice(), t.surrogate.error,
        percent(t.surrogate.ess), t.simulator.error, percent(t.simulator.ess),
        accuracy_text(t.c2st_network), accuracy_text(t.c2st_weighted), verdict(t));
  }
  text += share_text(trials, "surrogates within .01 nats a choice",
                     [](const Trial& t) { return t.kl_per_choice() <= 0.01; });
  text += share_text(trials, "with an ESS of at least 30 % in the simulator",
                     [](const Trial& t) { return t.simulator.ess >= 0.3; });
  text += share_text(trials, "failed without a warning",
                     [](const Trial& t) { return t.silent_failure(); });
  text += share_text(trials, "warned without need", [](const Trial& t) { return t.false_alarm(); });
  return text;
}

}  // namespace psn::zoo
