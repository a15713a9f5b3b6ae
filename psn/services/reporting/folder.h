// ResultFolder: what another command left behind, by file. Internal header of the reports.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace psn::services {

using Json = nlohmann::ordered_json;

// Rows of a file of comma-separated values, by the names in its first line.
struct Columns {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> cells;  // by column

  bool has(const std::string& name) const;
  std::size_t rows() const { return cells.empty() ? 0 : cells.front().size(); }
  const std::vector<std::string>& texts(const std::string& name) const;  // throws DataError
  std::vector<double> numbers(const std::string& name) const;            // NaN for empty cells
};

class ResultFolder {
 public:
  explicit ResultFolder(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  bool has(const std::string& name) const;
  // All throw DataError that names the file.
  std::string text(const std::string& name) const;
  Json json(const std::string& name) const;
  Columns columns(const std::string& name) const;

 private:
  std::string path_;
};

// A number of an object; NaN if it is not there or null.
double number_at(const Json& json, const char* key);
std::string text_at(const Json& json, const char* key);
// As a table shows it: numbers with five digits, lists by commas.
std::string shown_json(const Json& json);

}  // namespace psn::services
