#include "psn/services/unfinished_inference.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "psn/base/error.h"
#include "psn/io/atomic_file.h"
#include "psn/services/infer.h"
#include "psn/services/output_directory.h"
#include "psn/services/same_options.h"

namespace psn::services {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

Json failures_json(const Failures& failures) {
  return {{"by_cause", failures.by_cause}, {"last", failures.last}};
}

Failures failures_of(const std::string& text) {
  const Json json = Json::parse(text);
  Failures failures{.runs = 0, .by_cause = json.at("by_cause"), .last = json.at("last")};
  for (const auto& [cause, count] : failures.by_cause) failures.runs += count;
  return failures;
}

// "'x' is 5, now 6": the first difference between two texts of observations.
std::string difference(const std::string& before, const std::string& now) {
  const Json old_ones = Json::parse(before, nullptr, false), new_ones = Json::parse(now);
  const auto text = [](const Json& values, const std::string& name) {
    constexpr std::size_t kLong = 60;
    if (!values.is_object() || !values.contains(name)) return std::string("not observed");
    const std::string whole = values.at(name).dump();
    return whole.size() > kLong ? whole.substr(0, kLong) + "..." : whole;
  };
  Json names = new_ones;
  if (old_ones.is_object()) names.update(old_ones);
  for (const auto& [name, value] : names.items()) {
    if (text(old_ones, name) == text(new_ones, name)) continue;
    return fmt::format("'{}' was {}, now {}", name, text(old_ones, name), text(new_ones, name));
  }
  return "the values differ";
}

// Empty if there is none.
std::string content_of(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) ? read_file(path) : "";
}

}  // namespace

std::string observations_json(const Observations& observations) {
  Json json = Json::object();
  for (const auto& [name, value] : observations.values()) {
    if (value.is_scalar()) {
      json[name] = value.scalar();
    } else {
      json[name] = std::vector<double>(value.begin(), value.end());
    }
  }
  return json.dump() + "\n";
}

UnfinishedInference::UnfinishedInference(const std::string& out, std::string config,
                                         std::string observed, const Communicator& ranks)
    : alone_(ranks.alone()), out_(out), config_(std::move(config)), observed_(std::move(observed)) {
  if (out.empty() || !ranks.leads()) return;
  const std::string base = place_beside(out);
  path_ = base + ".unfinished";
  std::error_code error;
  if (fs::is_directory(fs::absolute(path_, error).parent_path(), error)) {
    lock_.emplace(base);
    remove_abandoned(path_);
  }
  check_results();
  if (!alone_) path_.clear();  // nobody has all parts
}

void UnfinishedInference::check_results() const {
  const std::string config = content_of(out_ + "/" + kConfigFile);
  if (!config.starts_with("# psn infer ")) return;
  const auto fail = [&](const std::string& what) {
    throw InvalidArgument(
        fmt::format("'{}' has results of {}: give another `out`, or remove it", out_, what));
  };
  const auto before = deciding_options(config), now = deciding_options(config_);
  for (const std::string name : {"model", "given"}) {
    const auto old_one = before.find(name), new_one = now.find(name);
    const std::string old_text = old_one == before.end() ? "not set" : old_one->second;
    const std::string new_text = new_one == now.end() ? "not set" : new_one->second;
    if (old_text != new_text) fail(fmt::format("`{}` {}, now {}", name, old_text, new_text));
  }
  const std::string observed = content_of(out_ + "/observations.json");
  if (!observed.empty() && observed != observed_) {
    fail("other observations (" + difference(observed, observed_) + ")");
  }
}

const EngineState* UnfinishedInference::open(bool resume, Simulator& simulator) {
  std::error_code error;
  if (resume && path_.empty()) {
    throw InvalidArgument(alone_ ? "`resume` goes on with what `out` names: `out` DIR"
                                 : "`resume` runs in one process, without mpirun");
  }
  if (path_.empty()) return nullptr;
  if (!fs::exists(path_, error)) {
    if (resume && fs::exists(out_ + "/summary.json", error)) {
      throw InvalidArgument(fmt::format("`resume`: '{}' is finished", out_));
    }
    return nullptr;
  }
  if (!resume) {
    throw InvalidArgument(fmt::format(
        "'{}' is an inference that did not finish: `resume` goes on with it; or remove it", path_));
  }
  const TensorFile file = TensorFile::load(path_, EngineState::kKind, EngineState::kVersion);
  try {
    expect_same_options(path_, file.metadata.at("config"), config_);
    if (const std::string& observed = file.metadata.at("observed"); observed != observed_) {
      throw InvalidArgument(fmt::format("`resume`: '{}' was begun with other observations: {}",
                                        path_, difference(observed, observed_)));
    }
    seconds_ = std::stod(file.metadata.at("seconds"));
    failures_ = failures_of(file.metadata.at("failures"));
    if (const auto runs = file.metadata.find("simulator_runs"); runs != file.metadata.end()) {
      runs_ = std::stoull(runs->second);  // files of before have none
    }
  } catch (const Error&) {
    throw;
  } catch (const std::exception& wrong) {
    throw DataError(fmt::format("'{}': not an unfinished inference ({})", path_, wrong.what()));
  }
  begun_ = EngineState::from_file(file, simulator.addresses(), path_);
  return &*begun_;
}

std::string UnfinishedInference::save(const EngineWindow& window, const Simulator& simulator,
                                      std::uint64_t runs) {
  if (path_.empty()) return alone_ ? "; with `out` what there is would be kept" : "";
  const auto hint = [&](const EngineState& kept) {
    return fmt::format("; '{}' has {} samples: `resume` goes on from there", path_,
                       kept.rows.size());
  };
  const std::optional<EngineState> state = window.look();
  if (!state) return begun_ ? hint(*begun_) : "";
  if (state->rows.empty() && state->chains.empty()) return "";
  Failures failures = simulator.failures();
  for (const auto& [cause, count] : failures_.by_cause) failures.by_cause[cause] += count;
  if (failures.last.empty()) failures.last = failures_.last;
  TensorFile file = state->to_file();
  file.metadata["config"] = config_;
  file.metadata["observed"] = observed_;
  const std::chrono::duration<double> now = std::chrono::steady_clock::now() - start_;
  file.metadata["seconds"] = fmt::format("{}", seconds_ + now.count());
  file.metadata["simulator_runs"] = std::to_string(runs_ + runs);
  file.metadata["failures"] = failures_json(failures).dump();
  std::error_code error;
  fs::create_directories(fs::absolute(path_, error).parent_path(), error);
  file.save(path_);
  return hint(*state);
}

void UnfinishedInference::finish() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove(path_, ignored);
}

}  // namespace psn::services
