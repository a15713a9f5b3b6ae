#include "psn/services/saved_result.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "psn/base/error.h"
#include "psn/io/atomic_file.h"
#include "psn/services/observation_json.h"

namespace psn::services {
namespace {

namespace fs = std::filesystem;

// Null if there is none.
nlohmann::ordered_json json_of(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return nullptr;
  auto json = nlohmann::ordered_json::parse(read_file(path), nullptr, false);
  if (json.is_discarded()) throw DataError(fmt::format("'{}' is not JSON", path));
  return json;
}

Posterior samples_in(const std::string& folder) {
  std::error_code error;
  for (const char* name : {"posterior", "predictive", "samples"}) {
    const std::string path = fmt::format("{}/{}.safetensors", folder, name);
    if (fs::exists(path, error)) return Posterior::load(path);
  }
  if (!fs::is_directory(folder, error)) throw DataError(fmt::format("no folder '{}'", folder));
  throw DataError(fmt::format(
      "'{}' has no samples: psn infer, psn predict and psn simulate write them (--out)", folder));
}

}  // namespace

SavedResult load_result(const std::string& folder) {
  SavedResult result{.folder = folder};
  result.samples = samples_in(folder);
  const auto summary = json_of(folder + "/summary.json");
  if (!summary.is_object()) return result;
  try {
    result.model = summary.value("model", "");
    result.engine = summary.value("engine", "");
    if (summary.contains("correction")) result.corrected_size = summary.at("ess").get<double>();
  } catch (const nlohmann::json::exception& error) {
    throw DataError(fmt::format("'{}/summary.json': {}", folder, error.what()));
  }
  return result;
}

Observations saved_observations(const std::string& folder) {
  const std::string path = folder + "/observations.json";
  Observations observations;
  const auto json = json_of(path);
  try {
    for (const auto& [name, value] : json.items()) observations.set(name, value_of(value));
  } catch (const std::exception& error) {
    throw DataError(fmt::format("'{}': {}", path, error.what()));
  }
  return observations;
}

}  // namespace psn::services
