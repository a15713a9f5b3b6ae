#include "psn/services/diagnose.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "psn/base/error.h"
#include "psn/io/atomic_file.h"
#include "psn/nn/network_file.h"
#include "psn/services/training_history.h"
#include "psn/services/warnings.h"

namespace psn::services {
namespace {

using Json = nlohmann::ordered_json;
using Findings = std::vector<Finding>;

std::string kind_of(const Json& summary) {
  if (summary.contains("kind")) return summary.at("kind");
  if (summary.contains("posterior") && summary.at("posterior").is_object()) return "inference";
  if (summary.contains("predictive")) return "prediction";
  return summary.contains("finished") ? "training" : "simulation";
}

void add_warnings(const Json& summary, Findings& findings) {
  for (const std::string text : summary.value("warnings", Json::array())) {
    findings.push_back(explained(text));
  }
}

// Of psn validate, calibrate and criticise.
void add_verdict(const Json& summary, const std::string& kind, Findings& findings) {
  // What was left open is among the warnings.
  if (summary.value("passed", true) || summary.value("undecided", false)) return;
  const bool data = kind == "criticism";
  const char* reason =
      data ? "data that the model makes hardly ever look like these, so its posterior answers a "
             "question about another world"
      : kind == "calibration"
          ? "over data drawn from the model itself the answers are wrong more often than chance "
            "explains, so they are wrong for your data too, however narrow"
          : "what the simulator does and what the surrogate does differ by more than chance "
            "explains";
  const char* remedy =
      data
          ? "look at the named observations and sites: a unit, an outlier, noise that the model "
            "lacks, a branch that it does not have"
          : "train longer (`traces`), a larger network; then the same again. `correct` or `engine` "
            "ic make a single answer exact meanwhile";
  const Json reasons = summary.value("reasons", Json::array());
  for (const std::string text : reasons) findings.push_back({text, reason, remedy});
  if (reasons.empty()) findings.push_back({kind + " did not pass", reason, remedy});
}

void add_failures(const Json& summary, Findings& findings) {
  if (!summary.contains("failed_runs")) return;
  const Json& failed = summary.at("failed_runs");
  findings.push_back(
      {fmt::format("{} runs failed and are left out; the last: {}", failed.at("count").dump(),
                   failed.value("last", "")),
       "what is left stands for the runs that succeed: a bias, if failing has to do with the "
       "variables",
       "look at the cause; a prior that keeps out of where the simulator cannot run; "
       "`max_failures` says how many are tolerated"});
}

void add_observations(const Json& summary, Findings& findings) {
  if (summary.value("prior", false)) {
    findings.push_back({"nothing was observed, so this is the prior",
                        "no observation was given, and the program states none",
                        "`observations` NAME=VALUE; psn simulate shows the names (--show 1)"});
  }
  constexpr double kWorthAWord = 0.01;  // of the weight
  const auto add = [&](const Json& observation, const char* key, const std::string& what) {
    const double share = observation.value(key, 0.0);
    if (share <= kWorthAWord) return;
    findings.push_back(
        {fmt::format("traces with {:.3g} % of the weight {}", 100 * share, what),
         "a program takes what it comes across: a branch not taken or a loop that ends early "
         "passes an observation by, and such traces then weigh more than they should",
         "observe what every run comes to, or the length of the list as well; a name may be "
         "misspelt or belong to two places (psn simulate with --show 1)"});
  };
  const Json observations = summary.value("observations", Json::object());
  for (const auto& [name, use] : observations.items()) {
    add(use, "unused_share", fmt::format("never came to the observation '{}'", name));
    add(use, "partly_used_share", fmt::format("used only some values of '{}'", name));
    add(use, "used_twice_share", fmt::format("used one value of '{}' at two addresses", name));
  }
}

void add_surrogate(const Json& summary, Findings& findings) {
  if (const auto refused = summary.value("fallbacks_refused", std::uint64_t{0})) {
    findings.push_back(
        {fmt::format("{} times the simulator could not have made the surrogate's choices so far, "
                     "and the surrogate went on",
                     refused),
         "the surrogate came to where its simulator never comes, and its own guess stood in",
         "train it longer (psn train surrogate with `from`), which makes such traces rarer"});
  }
  if (!summary.contains("correction")) return;
  const Json& correction = summary.at("correction");
  const double diverged = correction.value("diverged", 0.0), runs = correction.value("runs", 1.0);
  const bool warned = summary.value("warnings", Json::array()).dump().find("took another path") !=
                      std::string::npos;  // results of before were not
  if (diverged <= runs / 2 || warned) return;
  findings.push_back(
      {fmt::format("{:.0f} of the {:.0f} runs of the correction took another path", diverged, runs),
       "choices that nobody controls led the simulator elsewhere; these runs weigh nothing",
       "more runs (`correct`); let the surrogate control these choices, or train it longer"});
}

void add_end(const Json& summary, Findings& findings) {
  if (summary.value("finished", true)) return;
  findings.push_back({"the training is not finished", "it was stopped before its last trace",
                      "the same command again with `resume`"});
}

Json summary_in(const std::string& folder) {
  const std::string path = folder + "/summary.json";
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw DataError(fmt::format(
        "'{}' has no summary.json: it is in folders of --out, and of psn train --log once the "
        "training has ended",
        folder));
  }
  Json json = Json::parse(read_file(path), nullptr, false);
  if (!json.is_object()) throw DataError(fmt::format("'{}' is not a JSON object", path));
  return json;
}

Diagnosis diagnose_network(const std::string& file) {
  Diagnosis diagnosis{file, "training", {}};
  Progress last{.finished = true};
  const NetworkFile network = load_network(file);
  last.validation = last_validation(network.history);
  for (const std::string& text : training_warnings(last, network.network->infers())) {
    diagnosis.findings.push_back(explained(text));
  }
  return diagnosis;
}

}  // namespace

Diagnosis diagnose(const std::string& result) {
  std::error_code error;
  if (!std::filesystem::exists(result, error)) throw DataError(fmt::format("no '{}'", result));
  if (!std::filesystem::is_directory(result, error)) return diagnose_network(result);
  const Json summary = summary_in(result);
  try {
    Diagnosis diagnosis{result, kind_of(summary), {}};
    add_end(summary, diagnosis.findings);
    add_verdict(summary, diagnosis.kind, diagnosis.findings);
    add_warnings(summary, diagnosis.findings);
    add_failures(summary, diagnosis.findings);
    add_observations(summary, diagnosis.findings);
    add_surrogate(summary, diagnosis.findings);
    return diagnosis;
  } catch (const Json::exception& wrong) {
    throw DataError(fmt::format("'{}/summary.json': {}", result, wrong.what()));
  }
}

}  // namespace psn::services
