#include "psn/services/report.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "psn/base/error.h"
#include "psn/io/atomic_file.h"
#include "psn/report/page.h"
#include "psn/services/output_directory.h"
#include "psn/services/reporting/columns.h"
#include "psn/services/reporting/parts.h"

namespace psn::services {
namespace {

using Maker = Part (*)(const ResultFolder&);
const std::map<std::string, Maker> kMakers{{"simulation", simulation_part},
                                           {"prediction", prediction_part},
                                           {"exact", exact_part},
                                           {"graph", graph_part},
                                           {"comparison", comparison_part},
                                           {"training", training_part},
                                           {"zoo", zoo_part},
                                           {"experiment", experiment_part},
                                           {"validation", validation_part},
                                           {"calibration", calibration_part},
                                           {"criticism", criticism_part},
                                           {"evidence", model_evidence_part}};

// What a folder says of itself; what has no kind to say is known by its files.
std::string kind_of(const ResultFolder& folder) {
  static const std::vector<std::pair<const char*, const char*>> kFiles{
      {"posterior.safetensors", "inference"},
      {"comparison.json", "comparison"},
      {"zoo.json", "zoo"},
      {"results.json", "experiment"},
      {"progress.csv", "training"},
      {"transitions.json", "graph"}};
  if (folder.has("summary.json")) {
    std::string kind = text_at(folder.json("summary.json"), "kind");
    if (!kind.empty()) return kind;
  }
  for (const auto& [file, kind] : kFiles) {
    if (folder.has(file)) return kind;
  }
  return "";
}

Part part_of(const std::string& input, const References& references) {
  if (input.ends_with(".psn")) return network_part(input);
  const ResultFolder folder(input);
  const std::string kind = kind_of(folder);
  if (kind == "inference") return inference_part(folder, references);
  const auto maker = kMakers.find(kind);
  if (maker != kMakers.end()) return maker->second(folder);
  throw DataError(fmt::format("'{}': nothing there that psn report knows", input));
}

// Runs among the inputs, as the prior of what is inferred of their models, and exact answers.
References references_among(const std::vector<std::string>& inputs) {
  References references;
  for (const std::string& input : inputs) {
    if (input.ends_with(".psn")) continue;
    const ResultFolder folder(input);
    const std::string kind = kind_of(folder);
    if (kind != "simulation" && kind != "exact") continue;
    const std::string model = text_at(folder.json("summary.json"), "model");
    if (kind == "exact") {
      references.exact[model] = exact_of(folder);
    } else {
      references.priors[model] = numbers_of(Posterior::load(folder.file(kSamplesFile)));
    }
  }
  return references;
}

// Figures of several parts may have the same name.
void make_names_unique(Report& report) {
  std::set<std::string> taken;
  for (Part& part : report.parts) {
    for (Section& section : part.sections) {
      for (Figure& figure : section.figures) {
        const std::string name = figure.name;
        for (int n = 2; !taken.insert(figure.name).second; ++n) {
          figure.name = fmt::format("{}-{}", name, n);
        }
      }
    }
  }
}

}  // namespace

Report report_on_results(const std::vector<std::string>& inputs) {
  Report report;
  const References references = references_among(inputs);
  for (const std::string& input : inputs) {
    try {
      report.parts.push_back(part_of(input, references));
    } catch (const Json::exception& error) {
      throw DataError(fmt::format("'{}': a result that is damaged: {}", input, error.what()));
    }
  }
  report.title = report.parts.size() == 1 ? report.parts.front().title
                                          : fmt::format("{} results", report.parts.size());
  make_names_unique(report);
  return report;
}

void write_report(const Report& report, const std::string& path) {
  write_file_atomically(path, to_html(report));
}

}  // namespace psn::services
