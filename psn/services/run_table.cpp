#include "psn/services/run_table.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <sstream>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/io/atomic_file.h"
#include "psn/io/csv.h"
#include "psn/io/npz_reader.h"

namespace psn::services {
namespace {

double measured_or_missing(const std::string& cell) {
  constexpr std::array kMissing{"", "nan", "inf", "-inf", "na", "null", "none"};
  for (const char* word : kMissing) {
    if (::strcasecmp(cell.c_str(), word) == 0) return kNaN;
  }
  double number = 0;
  const char* end = cell.data() + cell.size();
  const char* begin = cell.data() + (cell[0] == '+' ? 1 : 0);
  const auto [last, error] = std::from_chars(begin, end, number);
  if (error != std::errc() || last != end) throw std::invalid_argument(cell);
  return std::isfinite(number) ? number : kNaN;
}

// "y" and 2 of "y[2]".
std::pair<std::string, std::size_t> place_of(const std::string& name) {
  const auto open = name.rfind('[');
  if (open == std::string::npos || open == 0 || !name.ends_with(']')) return {name, 0};
  std::size_t index = 0;
  const char* end = name.data() + name.size() - 1;
  const auto [last, error] = std::from_chars(name.data() + open + 1, end, index);
  return error == std::errc() && last == end ? std::pair{name.substr(0, open), index}
                                             : std::pair{name, std::size_t{0}};
}

// Columns NAME[0], NAME[1], ... that stand side by side become one.
RunTable with_vectors(const std::vector<std::string>& names,
                      const std::vector<std::vector<double>>& columns, std::size_t runs) {
  RunTable table{{}, runs};
  for (std::size_t c = 0; c < names.size();) {
    const auto [name, index] = place_of(names[c]);
    std::size_t width = 1;
    while (name != names[c] && c + width < names.size() &&
           place_of(names[c + width]) == std::pair{name, index + width}) {
      ++width;
    }
    RunColumn column{name, {}, {}};
    if (name != names[c]) column.shape = {static_cast<std::int64_t>(width)};
    for (std::size_t run = 0; run < runs; ++run) {
      for (std::size_t k = 0; k < width; ++k) column.values.push_back(columns[c + k][run]);
    }
    table.columns.push_back(std::move(column));
    c += width;
  }
  return table;
}

RunTable from_csv(const std::string& path) {
  std::istringstream in(read_file(path));
  std::string line;
  std::getline(in, line);
  if (line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
  const std::vector<std::string> names = csv_cells(line);
  std::vector<std::vector<double>> columns(names.size());
  std::size_t runs = 0;
  for (std::size_t number = 2; std::getline(in, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::vector<std::string> cells = csv_cells(line);
    if (cells.size() != names.size()) {
      throw DataError(fmt::format("'{}', line {}: {} cells, but {} names", path, number,
                                  cells.size(), names.size()));
    }
    for (std::size_t c = 0; c < cells.size(); ++c) try {
        columns[c].push_back(measured_or_missing(cells[c]));
      } catch (const std::invalid_argument&) {
        throw DataError(fmt::format("'{}', line {}, column '{}': '{}' is no number", path, number,
                                    names[c], cells[c]));
      }
    ++runs;
  }
  return with_vectors(names, columns, runs);
}

RunTable from_npz(const std::string& path) {
  RunTable table;
  for (auto& [name, array] : read_npz(path)) {
    if (array.shape.empty()) throw DataError(fmt::format("'{}': '{}' has no runs", path, name));
    const auto runs = static_cast<std::size_t>(array.shape[0]);
    if (!table.columns.empty() && runs != table.runs) {
      throw DataError(fmt::format("'{}': '{}' has {} runs, '{}' has {}", path, name, runs,
                                  table.columns[0].name, table.runs));
    }
    table.runs = runs;
    for (double& x : array.values) x = std::isfinite(x) ? x : kNaN;
    table.columns.push_back(
        {name, {array.shape.begin() + 1, array.shape.end()}, std::move(array.values)});
  }
  return table;
}

}  // namespace

Value RunColumn::of_run(std::size_t run) const {
  const std::size_t width = element_count(shape);
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(run * width);
  if (shape.empty()) return Value(*begin);
  return {std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(width)), shape};
}

bool RunColumn::missing(std::size_t run) const {
  const Value value = of_run(run);
  return std::any_of(value.begin(), value.end(), [](double x) { return std::isnan(x); });
}

const RunColumn* RunTable::find(const std::string& name) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const RunColumn& column) { return column.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

RunTable read_runs(const std::string& path) {
  if (path.ends_with(".npz")) return from_npz(path);
  if (path.ends_with(".csv")) return from_csv(path);
  throw DataError(fmt::format("'{}' ends neither in .csv nor in .npz", path));
}

}  // namespace psn::services
