#include "psn/services/reporting/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/io/atomic_file.h"
#include "psn/io/csv.h"
#include "psn/report/report.h"

namespace psn::services {

bool Columns::has(const std::string& name) const {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const std::vector<std::string>& Columns::texts(const std::string& name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw DataError(fmt::format("no column '{}'", name));
  return cells[static_cast<std::size_t>(found - names.begin())];
}

std::vector<double> Columns::numbers(const std::string& name) const {
  std::vector<double> result;
  for (const std::string& cell : texts(name)) {
    result.push_back(cell.empty() ? kNaN : std::strtod(cell.c_str(), nullptr));
  }
  return result;
}

bool ResultFolder::has(const std::string& name) const {
  std::error_code error;
  return std::filesystem::is_regular_file(file(name), error);
}

std::string ResultFolder::text(const std::string& name) const {
  return read_file(file(name));
}

Json ResultFolder::json(const std::string& name) const {
  try {
    return Json::parse(text(name));
  } catch (const Json::exception&) {
    throw DataError(fmt::format("'{}' is damaged: no JSON", file(name)));
  }
}

Columns ResultFolder::columns(const std::string& name) const {
  std::istringstream lines(text(name));
  std::string line;
  Columns columns;
  if (!std::getline(lines, line)) throw DataError(fmt::format("'{}' is empty", file(name)));
  columns.names = csv_cells(line);
  columns.cells.resize(columns.names.size());
  for (std::size_t number = 2; std::getline(lines, line); ++number) {
    auto cells = csv_cells(line);
    if (cells.size() != columns.names.size()) {
      throw DataError(fmt::format("'{}' line {}: {} cells where the header has {}", file(name),
                                  number, cells.size(), columns.names.size()));
    }
    for (std::size_t i = 0; i < cells.size(); ++i) columns.cells[i].push_back(std::move(cells[i]));
  }
  return columns;
}

double number_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<double>() : kNaN;
}

std::string text_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() ? "" : shown_json(*found);
}

std::string shown_json(const Json& json) {
  if (json.is_null()) return "-";
  if (json.is_string()) return json.get<std::string>();
  if (json.is_boolean()) return json.get<bool>() ? "yes" : "no";
  if (json.is_number_integer()) return fmt::format("{}", json.get<std::int64_t>());
  if (json.is_number()) return shown(json.get<double>());
  if (!json.is_array()) return json.dump();
  std::string text;
  for (const Json& item : json) text += (text.empty() ? "" : ", ") + shown_json(item);
  return text;
}

}  // namespace psn::services
