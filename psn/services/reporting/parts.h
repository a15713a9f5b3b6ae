// The parts of a report, one maker for each kind of result. Internal header of the reports.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "psn/report/binning.h"
#include "psn/report/report.h"
#include "psn/services/reporting/folder.h"

namespace psn::services {

// What the other inputs have for a part: values drawn from the prior, by model and variable.
struct Priors {
  std::map<std::string, std::map<std::string, std::vector<double>>> values;

  const std::vector<double>* find(const std::string& model, const std::string& variable) const;
};

Part inference_part(const ResultFolder& folder, const Priors& priors);

// Facts from the top level of a summary, where it has them.
std::vector<std::pair<std::string, std::string>> facts_of(
    const Json& json, const std::vector<std::pair<const char*, const char*>>& names);
std::vector<std::string> warnings_of(const Json& json);

// The columns of a posterior or of predictions: a table of their summaries.
Table summary_table(const std::string& caption, const Json& columns);

}  // namespace psn::services
