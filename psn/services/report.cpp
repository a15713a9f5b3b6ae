#include "psn/services/report.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "psn/base/error.h"
#include "psn/io/atomic_file.h"
#include "psn/report/page.h"
#include "psn/services/reporting/parts.h"

namespace psn::services {
namespace {

// What a folder says of itself.
std::string kind_of(const ResultFolder& folder) {
  for (const char* file : {"summary.json", "results.json", "zoo.json", "comparison.json"}) {
    if (!folder.has(file)) continue;
    const std::string kind = text_at(folder.json(file), "kind");
    if (!kind.empty()) return kind;
  }
  if (folder.has("posterior.safetensors")) return "inference";
  return "";
}

Part part_of(const std::string& input, const Priors& priors) {
  const ResultFolder folder(input);
  const std::string kind = kind_of(folder);
  if (kind == "inference") return inference_part(folder, priors);
  throw DataError(fmt::format("'{}': nothing there that psn report knows", input));
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
  for (const std::string& input : inputs) {
    try {
      report.parts.push_back(part_of(input, {}));
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
