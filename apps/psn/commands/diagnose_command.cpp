// psn diagnose: what results should not be taken for, why, and what to do.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/exit_codes.h"
#include "apps/psn/options/options.h"
#include "psn/services/diagnose.h"
#include "psn/services/option_names.h"

namespace psn::app {
namespace {

using services::Diagnosis;
using services::Finding;

nlohmann::ordered_json diagnoses_json(const std::vector<Diagnosis>& diagnoses, bool clean) {
  nlohmann::ordered_json json{{"clean", clean}, {"results", nlohmann::ordered_json::array()}};
  for (const Diagnosis& diagnosis : diagnoses) {
    auto findings = nlohmann::ordered_json::array();
    for (const Finding& finding : diagnosis.findings) {
      findings.push_back({{"warning", services::with_option_names(finding.warning)},
                          {"reason", services::with_option_names(finding.reason)},
                          {"remedy", services::with_option_names(finding.remedy)}});
    }
    json["results"].push_back(
        {{"result", diagnosis.result}, {"kind", diagnosis.kind}, {"findings", findings}});
  }
  return json;
}

void print_diagnosis(const Diagnosis& diagnosis) {
  const std::size_t count = diagnosis.findings.size();
  fmt::print("{}: {}, {}\n", diagnosis.result, diagnosis.kind,
             count == 0 ? "nothing to warn of" : fmt::format("{} to warn of", count));
  for (const Finding& finding : diagnosis.findings) {
    fmt::print("- {}\n", services::with_option_names(finding.warning));
    if (!finding.reason.empty())
      fmt::print("  why: {}\n", services::with_option_names(finding.reason));
    if (!finding.remedy.empty())
      fmt::print("  do:  {}\n", services::with_option_names(finding.remedy));
  }
}

void diagnose_command(const std::vector<std::string>& results, const CommonOptions& common) {
  std::vector<Diagnosis> diagnoses;
  for (const std::string& result : results) diagnoses.push_back(services::diagnose(result));
  const bool clean = std::all_of(diagnoses.begin(), diagnoses.end(),
                                 [](const Diagnosis& d) { return d.findings.empty(); });
  if (common.json) {
    fmt::print("{}\n", diagnoses_json(diagnoses, clean).dump(2));
  } else {
    for (const Diagnosis& diagnosis : diagnoses) print_diagnosis(diagnosis);
  }
  if (!clean) throw CLI::RuntimeError(kWarnings);
}

}  // namespace

void add_diagnose_command(CLI::App& program) {
  auto* command = program.add_subcommand(
      "diagnose", "every warning of a result, its reason and its remedy; exit code 1 if there are");
  auto results = std::make_shared<std::vector<std::string>>();
  auto common = std::make_shared<CommonOptions>();
  command
      ->add_option("results,--results", *results,
                   "folders of --out, of psn train --log, or networks' files")
      ->required()
      ->expected(1, 1 << 20);
  common->add_to(*command);
  command->callback([results, common] { diagnose_command(*results, *common); });
}

}  // namespace psn::app
