#include <fmt/format.h>

#include "psn/base/error.h"
#include "psn/services/reporting/columns.h"
#include "psn/services/reporting/parts.h"

namespace psn::services {
namespace {

const std::vector<std::pair<const char*, const char*>> kFacts{
    {"engine", "engine"},
    {"samples", "samples"},
    {"ess", "effective sample size"},
    {"khat", "Pareto k-hat"},
    {"rhat", "split R-hat, the worst"},
    {"acceptance", "acceptance"},
    {"chains", "chains"},
    {"log_evidence", "log evidence"},
    {"simulator_runs", "runs of the simulator"},
    {"traces_per_second", "traces per second"},
    {"seed", "seed"}};

Table observations_table(const Json& observations) {
  Table table{.caption = "What was observed", .head = {"variable", "value"}, .rows = {}};
  for (const auto& [name, value] : observations.items()) {
    std::string text = shown_json(value);
    constexpr std::size_t kMost = 120;
    if (text.size() > kMost) text = text.substr(0, kMost) + " ...";
    table.rows.push_back({name, text});
  }
  return table;
}

}  // namespace

Part inference_part(const ResultFolder& folder, const Priors& priors) {
  const Json summary = folder.json("summary.json");
  const Posterior posterior = Posterior::load(folder.file("posterior.safetensors"));
  const std::string model = text_at(summary, "model");
  Part part{.kind = "inference", .title = "Inference: " + model, .path = folder.path()};
  Section about{
      .title = "The run", .facts = facts_of(summary, kFacts), .warnings = warnings_of(summary)};
  if (summary.value("approximate", false)) {
    about.warnings.push_back("these are draws of a network that nothing has weighed: approximate");
  }
  if (folder.has("observations.json")) {
    about.tables.push_back(observations_table(folder.json("observations.json")));
  }
  part.sections.push_back(std::move(about));

  Section section{.title = "Posterior"};
  if (summary.contains("posterior")) {
    section.tables.push_back(summary_table("Weighted means and quantiles", summary["posterior"]));
  }
  ColumnFigures options{.other_name = "prior"};
  std::map<std::string, std::vector<double>> prior;
  if (const auto given = priors.values.find(model); given != priors.values.end()) {
    prior = given->second;
  } else if (text_at(summary, "engine") == "is" && !summary.contains("correction")) {
    // Importance samples that the prior proposed are, without their weights, draws of the prior.
    prior = numbers_of(posterior);
  }
  if (!prior.empty()) options.others = &prior;
  section.figures = column_figures(posterior, options, section.text);
  auto fields = field_figures(posterior);
  std::move(fields.begin(), fields.end(), std::back_inserter(section.figures));
  part.sections.push_back(std::move(section));
  return part;
}

}  // namespace psn::services
