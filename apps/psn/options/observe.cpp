#include "apps/psn/options/observe.h"

#include <fmt/format.h>

#include <strings.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/io/atomic_file.h"
#include "psn/io/csv.h"
#include "psn/services/observation_json.h"

namespace psn::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxFile = 256u << 20;

double to_number(const std::string& cell) {
  if (cell.empty()) return kNaN;  // not measured
  std::size_t used = 0;
  const double number = std::stod(cell, &used);
  if (used != cell.size() || !std::isfinite(number)) throw std::invalid_argument(cell);
  return number;
}

void add_csv(Observations& observations, const std::string& path, const std::string& text) {
  const std::string_view kMark = "\xEF\xBB\xBF";  // some programs write one before UTF-8
  std::istringstream in(text.starts_with(kMark) ? text.substr(kMark.size()) : text);
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> names = csv_cells(line);
  if (names.empty()) throw DataError(fmt::format("'{}' is empty", path));
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::find(names.begin(), name, *name) != name) {
      throw DataError(fmt::format("'{}': '{}' is there twice", path, *name));
    }
  }
  std::vector<std::vector<double>> columns(names.size());
  for (std::size_t number = 2; std::getline(in, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const auto cells = csv_cells(line);
    if (cells.size() != names.size()) {
      throw DataError(fmt::format("'{}', line {}: {} values for {} names", path, number,
                                  cells.size(), names.size()));
    }
    for (std::size_t c = 0; c < cells.size(); ++c) {
      try {
        columns[c].push_back(to_number(cells[c]));
      } catch (const std::exception&) {
        throw DataError(
            fmt::format("'{}', line {}: '{}' is not a finite number", path, number, cells[c]));
      }
    }
  }
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (names[c].empty() || columns[c].empty()) {
      throw DataError(fmt::format("'{}': needs a line of names and at least one of values", path));
    }
    observations.set(names[c], columns[c].size() == 1 ? Value(columns[c][0]) : Value(columns[c]));
  }
}

// The library would take the last of several values of one name.
Json parse_without_repetition(const std::string& text) {
  std::set<std::string> names;
  const auto look = [&](int depth, Json::parse_event_t event, const Json& node) {
    if (event == Json::parse_event_t::key && depth == 1 &&
        !names.insert(node.get<std::string>()).second) {
      throw std::runtime_error(fmt::format("'{}' is there twice", node.get<std::string>()));
    }
    return true;
  };
  return Json::parse(text, look);
}

void add_json(Observations& observations, const std::string& path, const std::string& text) {
  Json object;
  try {
    object = parse_without_repetition(text);
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("'{}' is not JSON: {}", path, error.what()));
  } catch (const std::runtime_error& error) {
    throw DataError(fmt::format("'{}': {}", path, error.what()));
  }
  if (!object.is_object()) throw DataError(fmt::format("'{}': not an object of names", path));
  for (const auto& [name, node] : object.items()) {
    try {
      observations.set(name, services::value_of(node));
    } catch (const std::runtime_error& error) {
      throw DataError(fmt::format("'{}', observation '{}': {}", path, name, error.what()));
    }
  }
}

}  // namespace

namespace {

// At the last sign: addresses may have some, values have none.
std::pair<std::string, Value> named_value(const std::string& argument, const std::string& option) {
  const auto equals = argument.rfind('=');
  if (equals == 0 || equals == std::string::npos) {
    throw InvalidArgument(fmt::format("{} '{}': expected NAME=VALUE", option, argument));
  }
  try {
    return {argument.substr(0, equals),
            services::value_of(Json::parse(argument.substr(equals + 1)))};
  } catch (const std::exception&) {
    throw InvalidArgument(
        fmt::format("{} '{}': the value must be a number or an array such "
                    "as [1, 2]",
                    option, argument));
  }
}

}  // namespace

void add_observations(Observations& observations, const std::vector<std::string>& arguments,
                      const std::string& option) {
  std::set<std::string> names;
  for (const std::string& argument : arguments) {
    auto [name, value] = named_value(argument, option);
    if (!names.insert(name).second) {
      throw InvalidArgument(fmt::format("{} '{}': '{}' is there twice", option, argument, name));
    }
    observations.set(std::move(name), std::move(value));
  }
}

Observations held_values(const std::vector<std::string>& arguments) {
  Observations held;
  add_observations(held, arguments, "--given");
  return held;
}

void add_observation_file(Observations& observations, const std::string& path) {
  const std::string text = read_file(path, kMaxFile);
  const bool csv = path.size() > 4 && ::strcasecmp(path.c_str() + path.size() - 4, ".csv") == 0;
  csv ? add_csv(observations, path, text) : add_json(observations, path, text);
}

}  // namespace psn::app
