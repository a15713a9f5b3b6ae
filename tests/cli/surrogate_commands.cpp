// psn with a surrogate's file in the model's place.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "psn/nn/network_file.h"
#include "tests/law/network_fixture.h"

namespace psn {
namespace {

namespace fs = std::filesystem;

class SurrogateCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("psn_surrogate_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    const auto network =
        testing::network_of(control_flow::model(), {.config = testing::small_config()});
    save_network((folder_ / "s.psn").string(), {network, R"({"traces": 300})"});
  }
  void TearDown() override { fs::remove_all(folder_); }

  int psn(const std::string& arguments) {
    const std::string command =
        "cd '" + folder_.string() + "' && '" PSN_PROGRAM "' " + arguments + " >stdout 2>stderr";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::string slurp(const char* name) {
    std::stringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }
  nlohmann::json json(const std::string& arguments) {
    EXPECT_EQ(psn(arguments + " --json --quiet"), 0) << slurp("stderr");
    return nlohmann::json::parse(slurp("stdout"));
  }

  fs::path folder_;
};

TEST_F(SurrogateCommands, TrainedFromTheCommandLine) {
  const auto result = json(
      "train surrogate gaussian --traces 40000 --validation 1000 --lstm_dim 16 --seed 1 --out "
      "t.psn");
  EXPECT_LT(result["validation"]["kl_nats_per_trace"].get<double>(), 0.1);
  EXPECT_TRUE(fs::exists(folder_ / "t.psn.toml"));
  // The posterior inside it is near the simulator's own, N(2.25, 0.91), for data such as it was
  // trained on.
  const auto posterior =
      json("infer t.psn --observe obs0=2 --observe obs1=3 -n 100000 --seed 1")["posterior"]["mu"];
  EXPECT_NEAR(posterior["mean"].get<double>(), 2.25, 0.15);
  EXPECT_EQ(psn("train surrogate gaussian --out t.txt"), 64);
  EXPECT_EQ(psn("train surrogate gaussian --out nowhere/t.psn"), 65);
}

TEST_F(SurrogateCommands, TrainingThatFailsLeavesWhatItHadLearned) {
  EXPECT_EQ(psn("train surrogate '" PSN_PLUGIN_DIR
                "/libbroken_drifts.so' --traces 20000 --validation 0 --lstm_dim 8 --out t.psn"),
            70);
  const std::string error = slurp("stderr");
  EXPECT_NE(error.find("batch 11 "), std::string::npos) << error;
  EXPECT_NE(error.find("'drifting__Weibull__1'"), std::string::npos) << error;
  EXPECT_NE(error.find("'t.checkpoint.psn'"), std::string::npos) << error;
  EXPECT_FALSE(fs::exists(folder_ / "t.psn"));
  EXPECT_EQ(json("inspect t.checkpoint.psn")["updates"], 8);
  EXPECT_EQ(json("simulate t.checkpoint.psn -n 100")["addresses"], 3);
}

TEST_F(SurrogateCommands, RunAsForAnyModel) {
  EXPECT_GT(json("simulate s.psn -n 500")["addresses"].get<int>(), 5);
  EXPECT_EQ(json("graph s.psn -n 200")["traces"], 200);
  for (const std::string engine : {"is", "lmh", "rmh"}) {
    std::string reference;
    for (const char* how : {"--width 1 --threads 1", "--width 64 --threads 2"}) {
      auto result =
          json("infer s.psn --observe x=2 -n 500 --query theta --engine " + engine + " " + how);
      result.erase("traces_per_second");
      EXPECT_TRUE(result["posterior"]["theta"]["mean"].is_number());
      if (reference.empty()) reference = result.dump();
      EXPECT_EQ(result.dump(), reference) << engine << " " << how;
    }
  }
}

TEST_F(SurrogateCommands, Inspect) {
  const auto result = json("inspect s.psn");
  EXPECT_EQ(result["config"]["lstm_dim"], 19);
  EXPECT_EQ(result["history"]["traces"], 300);
  EXPECT_EQ(result["nodes"][2]["name"], "theta");
  EXPECT_EQ(result["nodes"][0]["successors"][0], "theta__Beta__1");
  EXPECT_EQ(psn("inspect s.psn"), 0);
  EXPECT_NE(slurp("stdout").find("theta__Beta__1"), std::string::npos);
}

TEST_F(SurrogateCommands, BadFilesAreOneLineAndExitCode65) {
  fs::resize_file(folder_ / "s.psn", fs::file_size(folder_ / "s.psn") - 100);
  for (const char* command : {"simulate s.psn", "inspect s.psn", "graph missing.psn"}) {
    EXPECT_EQ(psn(command), 65);
    const std::string error = slurp("stderr");
    EXPECT_TRUE(error.starts_with("psn: error: ")) << error;
    EXPECT_NE(error.find(".psn"), std::string::npos);
    EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 1);
  }
}

}  // namespace
}  // namespace psn
