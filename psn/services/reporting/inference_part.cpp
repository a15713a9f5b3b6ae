#include <fmt/format.h>

#include "psn/base/error.h"
#include "psn/services/output_directory.h"
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

// The answer is of use if it is of the same observations.
void add_exact(const References::Exact& exact, const ResultFolder& folder, ColumnFigures& options,
               Section& section) {
  const auto in_order = [](const Json& json) { return nlohmann::json::parse(json.dump()); };
  if (folder.has("observations.json") &&
      in_order(folder.json("observations.json")) != in_order(exact.observed)) {
    section.warnings.push_back("the exact answer beside this is of other observations: not drawn");
    return;
  }
  if (!exact.draws.empty()) {
    options.others.push_back({"exact", &exact.draws});
  } else {
    options.mark_name = "exact mean";
    options.marks = exact.means;
  }
}

}  // namespace

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

References::Exact exact_of(const ResultFolder& folder) {
  References::Exact exact{.observed = folder.json("observations.json"), .draws = {}, .means = {}};
  if (folder.has(kSamplesFile)) {
    exact.draws = numbers_of(Posterior::load(folder.file(kSamplesFile)));
  }
  const Json summary = folder.json("summary.json");  // which the loop below would not keep
  for (const auto& [name, column] : summary.at("posterior").items()) {
    exact.means[name] = number_at(column, "mean");
  }
  return exact;
}

Part exact_part(const ResultFolder& folder) {
  const Json summary = folder.json("summary.json");
  Part part{.kind = "exact",
            .title = "Exact posterior: " + text_at(summary, "model"),
            .path = folder.path()};
  Section section{
      .title = "The answer",
      .facts = facts_of(summary, {{"source", "from"}, {"log_evidence", "log evidence"}})};
  section.tables = {observations_table(folder.json("observations.json")),
                    summary_table("Means and what else is known", summary.at("posterior"))};
  if (folder.has(kSamplesFile)) {
    const Posterior draws = Posterior::load(folder.file(kSamplesFile));
    section.figures = column_figures(draws, {.what = "exact posterior"}, section.text);
  }
  part.sections.push_back(std::move(section));
  return part;
}

Part inference_part(const ResultFolder& folder, const References& references) {
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
  ColumnFigures options;
  References::Numbers prior;
  if (const auto given = references.priors.find(model); given != references.priors.end()) {
    prior = given->second;
  } else if (text_at(summary, "engine") == "is" && !summary.contains("correction")) {
    // Importance samples that the prior proposed are, without their weights, draws of the prior.
    prior = numbers_of(posterior);
  }
  if (!prior.empty()) options.others.push_back({"prior", &prior});
  if (const auto exact = references.exact.find(model); exact != references.exact.end()) {
    add_exact(exact->second, folder, options, section);
  }
  section.figures = column_figures(posterior, options, section.text);
  auto fields = field_figures(posterior);
  std::move(fields.begin(), fields.end(), std::back_inserter(section.figures));
  part.sections.push_back(std::move(section));
  return part;
}

}  // namespace psn::services
