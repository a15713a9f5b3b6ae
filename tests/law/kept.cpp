// What experiments keep: a training that is killed again and again ends as one that is not.
#include "experiments/kept.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
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

  Trained trained(const std::string& directory) const {
    ExperimentRequest request;
    request.directory = directory;
    InProcess simulator(control_flow::model());
    TrainingPlan plan = online_plan(simulator, recipe());
    plan.measure = [](const Network& network, const Progress&) {
      return static_cast<double>(network.size());
    };
    return Kept(request).network("net", plan);
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
  const Trained whole = trained((folder_ / "whole").string()), killed = trained(directory);
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

TEST_F(KeptTraining, IsDoneByOneProcessAtATime) {
  ExperimentRequest request;
  request.directory = folder_.string();
  const Kept first(request);
  EXPECT_THROW(Kept second(request), DataError);
}

}  // namespace
}  // namespace psn
