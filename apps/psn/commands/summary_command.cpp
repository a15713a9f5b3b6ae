// psn summary: what results say, variable by variable, with the error of saying it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/options.h"
#include "psn/services/names.h"
#include "psn/services/summary.h"

namespace psn::app {
namespace {

using services::SummarizedResult;
using services::VariableSummary;

struct SummaryOptions {
  CommonOptions common;
  services::SummaryJob job;
};

nlohmann::ordered_json variable_json(const VariableSummary& v) {
  nlohmann::ordered_json json{{"mean", v.mean},
                              {"mcse", v.mcse},
                              {"sd", v.sd},
                              {"quantiles", v.quantiles},
                              {"hdi", {v.hdi.low, v.hdi.high}},
                              {"ess", v.ess}};
  if (!std::isnan(v.rhat)) json["rhat"] = v.rhat;
  if (v.probability < 1 - 1e-9) json["probability"] = v.probability;
  if (!std::isnan(v.apart)) json["apart"] = v.apart;
  return json;
}

nlohmann::ordered_json results_json(const std::vector<SummarizedResult>& results,
                                    const services::SummaryJob& job) {
  nlohmann::ordered_json json{{"quantiles", job.quantiles}, {"hdi_mass", job.hdi}};
  for (const SummarizedResult& result : results) {
    nlohmann::ordered_json entry{{"folder", result.folder},
                                 {"model", result.model},
                                 {"engine", result.engine},
                                 {"samples", result.samples}};
    if (result.chains > 0) entry["chains"] = result.chains;
    auto& variables = entry["variables"] = nlohmann::ordered_json::object();
    for (const VariableSummary& v : result.variables) variables[v.name] = variable_json(v);
    json["results"].push_back(std::move(entry));
  }
  return json;
}

std::string cell(double x, int digits = 4) {
  return std::isnan(x) ? fmt::format(" {:>9}", "-") : fmt::format(" {:>9.{}g}", x, digits);
}

std::string header(const SummaryOptions& options, bool several, bool chains) {
  std::string line = several ? fmt::format("{:>16} {:>16}", "", "") : fmt::format("{:>16}", "");
  for (const char* name : {"mean", "mcse", "sd"}) line += fmt::format(" {:>9}", name);
  for (const double q : options.job.quantiles) {
    line += fmt::format(" {:>9}", fmt::format("{:.4g}%", 100 * q));
  }
  const double mass = 100 * options.job.hdi;
  line += fmt::format(" {:>9} {:>9}", fmt::format("{:.4g}% HDI", mass), "to");
  line += fmt::format(" {:>9}", "ess");
  if (chains) line += fmt::format(" {:>9}", "r-hat");
  if (several) line += fmt::format(" {:>9}", "apart");
  return line;
}

std::string row(const VariableSummary& v, bool several, bool chains) {
  std::string line = cell(v.mean, 5) + cell(v.mcse, 3) + cell(v.sd);
  for (const double q : v.quantiles) line += cell(q);
  line += cell(v.hdi.low) + cell(v.hdi.high);
  line += std::isnan(v.ess) ? cell(v.ess) : fmt::format(" {:>9.0f}", v.ess);
  if (chains) line += cell(v.rhat);
  if (several)
    line += std::isnan(v.apart) ? std::string(10, ' ') : fmt::format(" {:>+9.2f}", v.apart);
  if (v.probability < 1 - 1e-9) line += fmt::format("  in {:.2f} % of traces", 100 * v.probability);
  return line;
}

void print_table(const std::vector<SummarizedResult>& results, const SummaryOptions& options) {
  const bool several = results.size() > 1;
  const bool chains = std::any_of(results.begin(), results.end(),
                                  [](const SummarizedResult& r) { return r.chains > 0; });
  std::vector<std::string> names;  // in the order of the first result that has them
  for (const SummarizedResult& result : results) {
    for (const VariableSummary& v : result.variables) {
      if (std::find(names.begin(), names.end(), v.name) == names.end()) names.push_back(v.name);
    }
  }
  fmt::print("{}\n", header(options, several, chains));
  for (const std::string& name : names) {
    std::string label = name;  // once for all results
    for (const SummarizedResult& result : results) {
      for (const VariableSummary& v : result.variables) {
        if (v.name != name) continue;
        const std::string place = several ? fmt::format("{:>16} {:>16}", label, result.folder)
                                          : fmt::format("{:>16}", label);
        fmt::print("{}{}\n", place, row(v, several, chains));
        label = "";
      }
    }
  }
  if (!several || options.common.quiet) return;
  fmt::print(
      "apart: from the mean of '{}', in Monte Carlo standard errors of the difference; beyond 3 in "
      "either direction is no accident\n",
      results[0].folder);
}

void summary_command(const SummaryOptions& given) {
  SummaryOptions options = given;
  options.job.queries.clear();
  for (const std::string& words : given.job.queries) {
    for (std::string& name : services::split_names(words)) {
      options.job.queries.push_back(std::move(name));
    }
  }
  const auto results = services::summarize_results(options.job);
  options.common.json ? fmt::print("{}\n", results_json(results, options.job).dump(2))
                      : print_table(results, options);
}

}  // namespace

void add_summary_command(CLI::App& program) {
  auto* command = program.add_subcommand(
      "summary", "means, errors, quantiles and diagnostics of results, side by side");
  auto options = std::make_shared<SummaryOptions>();
  command
      ->add_option("folders,--folders", options->job.folders,
                   "folders of psn infer, psn predict or psn simulate --out")
      ->required()
      ->expected(1, 1 << 20);
  command
      ->add_option("--query", options->job.queries, "variables, by name or address; all by default")
      ->allow_extra_args(false);
  command
      ->add_option("--quantiles", options->job.quantiles,
                   "numbers from 0 to 1, such as 0.1,0.5,0.9")
      ->delimiter(',')
      ->capture_default_str()
      ->check(finite_between(0, 1));
  command->add_option("--hdi", options->job.hdi, "mass of the narrowest (highest-density) interval")
      ->capture_default_str()
      ->check(finite_between(1e-9, 1));
  options->common.add_to(*command);
  command->callback([options] { summary_command(*options); });
}

}  // namespace psn::app
