#include "psn/report/figures/bars.h"
#include "psn/services/reporting/parts.h"

namespace psn::services {

Part model_evidence_part(const ResultFolder& folder) {
  const Json json = folder.json("summary.json");
  Part part{.kind = "evidence", .title = "Evidence of models", .path = folder.path()};
  Section section{
      .title = "Which model the data speak for",
      .text =
          "The evidence of a model is the probability density that it gave the data before they "
          "were seen. Probabilities are for models that were as probable before.",
      .facts =
          facts_of(json, {{"model", "the best"}, {"samples", "samples each"}, {"seed", "seed"}}),
      .warnings = warnings_of(json)};
  Table table{.caption = "Log evidence, and log Bayes factors against the best model",
              .head = {"model", "engine", "log evidence", "standard error", "log Bayes factor",
                       "probability", "effective sample size", "runs of the simulator"},
              .rows = {}};
  BarFigure bars{.title = "Log Bayes factors",
                 .reading =
                     "How much less each model explains the data than the best, in nats: at "
                     "-3 twenty times less. Left of the line it hardly counts.",
                 .value = "log Bayes factor",
                 .limit = -3};
  for (const Json& model : json.at("models")) {
    table.rows.push_back({text_at(model, "model"), text_at(model, "engine"),
                          text_at(model, "log_evidence"), text_at(model, "error"),
                          text_at(model, "log_bayes_factor"), text_at(model, "probability"),
                          text_at(model, "ess"), text_at(model, "simulator_runs")});
    bars.bars.push_back(
        {text_at(model, "model"), "log Bayes factor", number_at(model, "log_bayes_factor")});
  }
  section.tables.push_back(std::move(table));
  if (folder.has("observations.json")) {
    section.tables.push_back(observations_table(folder.json("observations.json")));
  }
  section.figures.push_back(bar_figure(bars));
  part.sections.push_back(std::move(section));
  return part;
}

}  // namespace psn::services
