#include "psn/services/unfinished_training.h"

#include <fmt/format.h>

#include <filesystem>

#include "psn/base/error.h"
#include "psn/io/atomic_file.h"
#include "psn/nn/network_file.h"
#include "psn/services/same_options.h"

namespace psn::services {
namespace {

std::string checkpoint_path(const std::string& out) {
  return out.substr(0, out.size() - 4) + ".checkpoint.psn";
}

}  // namespace

UnfinishedTraining::UnfinishedTraining(std::string out, std::string config,
                                       const Communicator& ranks)
    : out_(std::move(out)), config_(std::move(config)), file_(checkpoint_path(out_)) {
  if (!ranks.leads()) return;
  lock_.emplace(out_);
  remove_abandoned(out_);
  remove_abandoned(out_ + ".toml");
  file_.remove_abandoned();
}

std::optional<Checkpoint> UnfinishedTraining::open(bool resume) {
  if (!file_.exists()) {
    std::error_code error;
    if (resume && std::filesystem::exists(out_, error)) {
      throw InvalidArgument(fmt::format("`resume`: '{}' is finished", out_));
    }
    return std::nullopt;
  }
  if (!resume) {
    throw InvalidArgument(fmt::format(
        "'{0}' is a training that did not finish: `resume` goes on with it, `from` {0} with "
        "another `out` learns on from its network; or remove it",
        file_.path()));
  }
  Checkpoint checkpoint = file_.load();
  expect_same_options(file_.path(), checkpoint.config, config_);
  updates_ = checkpoint.state.batches;
  return checkpoint;
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
                     failed_ ? "" : ": `resume` goes on from there");
}

std::optional<std::string> unfinished_config(const std::string& out) {
  CheckpointFile file(checkpoint_path(out));
  if (!file.exists()) return std::nullopt;
  return file.load().config;
}

}  // namespace psn::services
