#include "apps/psn/unfinished.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "psn/base/error.h"
#include "psn/nn/network_file.h"

namespace psn::app {
namespace {

// Options that change nothing in what is learned: where results go, and how long things may take.
const std::set<std::string>& free_options() {
  static const std::set<std::string> names{
      "out",          "log",        "json",    "quiet",        "max-time",       "checkpoint-every",
      "time-limit",   "stack-size", "workers", "max-failures", "run-time-limit", "start-time-limit",
      "curve-server", "curve-keys"};
  return names;
}

// The lines of an effective configuration, by option.
std::map<std::string, std::string> options_of(const std::string& config) {
  std::map<std::string, std::string> options;
  std::istringstream in(config);
  for (std::string line; std::getline(in, line);) {
    const std::size_t equals = line.find(" = ");
    if (line.starts_with("#") || equals == std::string::npos) continue;
    const std::string name = line.substr(0, equals);
    if (!free_options().contains(name)) options[name] = line.substr(equals + 3);
  }
  return options;
}

}  // namespace

UnfinishedTraining::UnfinishedTraining(std::string out, std::string config)
    : out_(std::move(out)),
      config_(std::move(config)),
      file_(out_.substr(0, out_.size() - 4) + ".checkpoint.psn") {}

std::optional<Checkpoint> UnfinishedTraining::open(bool resume) {
  if (!file_.exists()) {
    std::error_code error;
    if (resume && std::filesystem::exists(out_, error)) {
      throw InvalidArgument(fmt::format("--resume: '{}' is finished", out_));
    }
    return std::nullopt;
  }
  if (!resume) {
    throw InvalidArgument(fmt::format(
        "'{0}' is a training that did not finish: --resume goes on with it, --from {0} --out with "
        "another name learns on from its network; or remove it",
        file_.path()));
  }
  Checkpoint checkpoint = file_.load();
  expect_same_options(checkpoint.config);
  updates_ = checkpoint.state.batches;
  return checkpoint;
}

void UnfinishedTraining::expect_same_options(const std::string& begun_with) const {
  const auto before = options_of(begun_with), now = options_of(config_);
  const auto text = [](const auto& options, const std::string& name) {
    const auto found = options.find(name);
    return found == options.end() ? std::string("not set") : found->second;
  };
  std::set<std::string> names;
  for (const auto& [name, value] : before) names.insert(name);
  for (const auto& [name, value] : now) names.insert(name);
  for (const std::string& name : names) {
    if (text(before, name) == text(now, name)) continue;
    throw InvalidArgument(fmt::format("--resume: '{}' was begun with another --{}: {}, now {}",
                                      file_.path(), name, text(before, name), text(now, name)));
  }
}

void UnfinishedTraining::save(std::shared_ptr<Network> network, const TrainingState& state,
                              std::string history, std::string source) {
  file_.save({std::move(network), state, std::move(history), config_, std::move(source)});
  updates_ = state.batches;
}

void UnfinishedTraining::save_failed(std::shared_ptr<Network> network, std::string history) {
  const std::uint64_t updates = network->parameters().step;
  if (updates == 0) return;
  save_network(file_.path(), {std::move(network), std::move(history), true});
  updates_ = updates;
  failed_ = true;
}

std::string UnfinishedTraining::hint() const {
  if (updates_ == 0) return "";
  return fmt::format("; '{}' holds the network after {} updates{}", file_.path(), updates_,
                     failed_ ? "" : ": --resume goes on from there");
}

}  // namespace psn::app
