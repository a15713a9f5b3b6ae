// What experiments keep: a training that is killed again and again ends as one that is not.
#include "experiments/common/experiment_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <thread>

#include "experiments/control_flow/control_flow.h"
#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/nn/network_file.h"

namespace psn {
namespace {

namespace fs = std::filesystem;

class KeptTraining : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  static Preset recipe() {
    Preset small = preset("default");
    small.network.core_dim = 8;
    small.training.traces = 6'400;
    small.training.batch_size = 64;
    small.training.progress_every = 10;
    small.training.validation_traces = 64;
    small.training.checkpoint_every = 0;
    return small;
  }

  TrainedNetwork trained(const std::string& directory) const {
    ExperimentRequest request;
    request.directory = directory;
    InProcess simulator(control_flow::model());
    TrainingPlan plan = online_plan(simulator, recipe());
    plan.measure = [](const Network& network, const Progress&) {
      return static_cast<double>(network.size());
    };
    return ExperimentFolder(request).network("net", plan);
  }

  const fs::path folder_ = fs::temp_directory_path() / ("psn_kept_" + std::to_string(::getpid()));
};

TEST_F(KeptTraining, IsTheSameWhenItWasKilled) {
  const std::string directory = (folder_ / "killed").string();
  int kills = 0;
  for (bool done = false; !done;) {
    const pid_t child = ::fork();
    if (child == 0) {
      trained(directory);
      ::_exit(0);
    }
    // Killed after ever longer, so that it ends on any machine.
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + 20 * kills));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    kills += done ? 0 : 1;
  }
  EXPECT_GT(kills, 0);
  const TrainedNetwork whole = trained((folder_ / "whole").string()), killed = trained(directory);
  EXPECT_TRUE(serialize_network({killed.network, ""}) == serialize_network({whole.network, ""}));
  ASSERT_EQ(killed.curve.size(), whole.curve.size());
  for (std::size_t i = 0; i < whole.curve.size(); ++i) {
    const auto& [a, in_a] = killed.curve[i];
    const auto& [b, in_b] = whole.curve[i];
    EXPECT_EQ(a.traces, b.traces);
    EXPECT_EQ(a.kl, b.kl);
    EXPECT_EQ(a.validation.has_value(), b.validation.has_value());
    EXPECT_EQ(in_a, in_b);
  }
  EXPECT_EQ(killed.curve.back().progress.validation->kl,
            whole.curve.back().progress.validation->kl);
}

// Whatever decides what network comes out: a network is used again only by the very recipe.
TEST_F(KeptTraining, IsUsedAgainByTheSameRecipeOnly) {
  const std::string directory = folder_.string();
  const auto with = [](const std::function<void(Preset&)>& change) {
    Preset changed = recipe();
    changed.training.traces = 640;
    change(changed);
    return changed;
  };
  std::uint64_t trainings = 0;
  const auto is_trained = [&](const Preset& preset) {
    Preset counted = preset;
    const std::uint64_t before = trainings;
    counted.training.checkpoint_every = 60;
    InProcess simulator(control_flow::model());
    TrainingPlan plan = online_plan(simulator, counted);
    plan.measure = [&](const Network&, const Progress&) -> std::optional<double> {
      ++trainings;
      return std::nullopt;
    };
    ExperimentRequest request;
    request.directory = directory;
    ExperimentFolder(request).network("net", plan);
    return trainings > before;
  };
  const std::vector<std::function<void(Preset&)>> changes{
      [](Preset& p) { p.training.rate.schedule = Schedule::kConstant; },
      [](Preset& p) { p.training.rate.final_rate = 0.5; },
      [](Preset& p) { p.training.adam.clip_norm = 3; },
      [](Preset& p) { p.training.adam.touched_only ^= true; },
      [](Preset& p) { p.training.inherit ^= true; },
      [](Preset& p) { p.training.rate_rules.wide_inputs = 0; },
      [](Preset& p) { p.training.memory_mb = 10; },
      [](Preset& p) { p.training.validate_every = 5; },
      [](Preset& p) { p.training.explosion = 1e6; },
      [](Preset& p) { p.training.seed = 1; },
      [](Preset& p) { p.network.core_dim = 9; },
      [](Preset& p) { p.network.variable_embedding["theta"].hidden_dim = 7; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    EXPECT_TRUE(is_trained(with([](Preset&) {}))) << i;
    EXPECT_FALSE(is_trained(with([](Preset&) {}))) << i;
    EXPECT_TRUE(is_trained(with(changes[i]))) << i;
  }
  // Neither how long things may take nor how many simulations run side by side decides.
  EXPECT_FALSE(is_trained(with([&](Preset& p) {
    changes.back()(p);
    p.training.seconds = 1e6;
    p.training.simulation = {3, 1};
  })));
}

TEST_F(KeptTraining, IsDoneByOneProcessAtATime) {
  ExperimentRequest request;
  request.directory = folder_.string();
  const ExperimentFolder first(request);
  EXPECT_THROW(ExperimentFolder second(request), DataError);
}

}  // namespace
}  // namespace psn
