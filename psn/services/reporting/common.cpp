#include <fmt/format.h>

#include <algorithm>

#include "psn/services/reporting/parts.h"
#include "psn/services/trace_record.h"

namespace psn::services {

std::vector<std::pair<std::string, std::string>> facts_of(
    const Json& json, const std::vector<std::pair<const char*, const char*>>& names) {
  std::vector<std::pair<std::string, std::string>> facts;
  for (const auto& [key, name] : names) {
    if (json.contains(key)) facts.emplace_back(name, text_at(json, key));
  }
  return facts;
}

std::vector<std::string> warnings_of(const Json& json) {
  return json.value("warnings", std::vector<std::string>{});
}

void add_traces(const ResultFolder& folder, Part& part) {
  if (!folder.has(kTracesFile)) return;
  const Json traces = folder.json(kTracesFile);
  const bool several = traces.at("sides").size() > 1;
  Figure explorer{.name = "traces",
                  .title = "Traces, choice by choice",
                  .form = Figure::Form::kTraces,
                  .content = traces.dump(),
                  .wide = true};
  explorer.reading = several
                         ? "One run of the simulator under both programs: its random choices in "
                           "order, what the simulator drew each from, and what the surrogate "
                           "would have, given the same choices before. The two distributions "
                           "should be alike. Marked rows are where the surrogate would rather "
                           "have gone elsewhere; the buttons go from choice to choice."
                         : "Runs of the program: their random choices in order, with their "
                           "values. The buttons go from choice to choice.";
  part.sections.push_back({.title = "Traces", .figures = {std::move(explorer)}});
}

Table summary_table(const std::string& caption, const Json& columns) {
  Table table{.caption = caption, .head = {"variable"}, .rows = {}};
  for (const auto& [variable, column] : columns.items()) {
    for (const auto& [key, value] : column.items()) {
      if (std::find(table.head.begin(), table.head.end(), key) == table.head.end()) {
        table.head.push_back(key);
      }
    }
  }
  constexpr std::size_t kMostRows = 500;
  for (const auto& [variable, column] : columns.items()) {
    const Json& mean = column.at("mean");
    const std::size_t width = mean.is_array() ? mean.size() : 1;
    for (std::size_t k = 0; k < width && table.rows.size() < kMostRows; ++k) {
      std::vector<std::string> row{mean.is_array() ? fmt::format("{}[{}]", variable, k) : variable};
      for (std::size_t c = 1; c < table.head.size(); ++c) {
        const auto cell = column.find(table.head[c]);
        row.push_back(cell == column.end() ? ""
                      : cell->is_array()   ? shown_json(cell->at(k))
                                           : shown_json(*cell));
      }
      table.rows.push_back(std::move(row));
    }
  }
  if (table.rows.size() == kMostRows) {
    table.caption += fmt::format(" (the first {})", kMostRows);
  }
  return table;
}

}  // namespace psn::services
