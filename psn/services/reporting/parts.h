// The parts of a report, one maker for each kind of result. Internal header of the reports.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "psn/report/report.h"
#include "psn/services/reporting/folder.h"

namespace psn::services {

// What the other inputs have for the posterior of a model.
struct References {
  using Numbers = std::map<std::string, std::vector<double>>;  // by name of the number
  struct Exact {
    Json observed;
    Numbers draws;  // empty: there are none
    std::map<std::string, double> means;
  };
  std::map<std::string, Numbers> priors;  // by model
  std::map<std::string, Exact> exact;
};

Part inference_part(const ResultFolder& folder, const References& references);
Part exact_part(const ResultFolder& folder);
References::Exact exact_of(const ResultFolder& folder);
Part simulation_part(const ResultFolder& folder);
Part prediction_part(const ResultFolder& folder);
Part graph_part(const ResultFolder& folder);
Part comparison_part(const ResultFolder& folder);
Part zoo_part(const ResultFolder& folder);
Part validation_part(const ResultFolder& folder);
Part calibration_part(const ResultFolder& folder);
Part criticism_part(const ResultFolder& folder);
Part model_evidence_part(const ResultFolder& folder);
// Of a log, and of a network's file.
Part training_part(const ResultFolder& folder);
Part network_part(const std::string& file);
// Of the paper's experiments, by what is in the folder.
Part experiment_part(const ResultFolder& folder);
Part cure_part(const ResultFolder& folder, const Json& results);

// The traces that a folder keeps, to be stepped through; no section if it keeps none.
void add_traces(const ResultFolder& folder, Part& part);
// The course of a training, from a log or an experiment's curve: the figures of the numbers it has.
std::vector<Figure> learning_figures(const Columns& curve, const std::string& of);

// Facts from the top level of a summary, where it has them.
std::vector<std::pair<std::string, std::string>> facts_of(
    const Json& json, const std::vector<std::pair<const char*, const char*>>& names);
std::vector<std::string> warnings_of(const Json& json);

// The columns of a posterior or of predictions: a table of their summaries.
Table observations_table(const Json& observations);
Table summary_table(const std::string& caption, const Json& columns);

}  // namespace psn::services
