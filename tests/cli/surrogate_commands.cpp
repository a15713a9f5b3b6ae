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
#include "psn/nn/run/surrogate.h"
#include "tests/law/network_fixture.h"

namespace psn {
namespace {

namespace fs = std::filesystem;

class SurrogateCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("psn_surrogate_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    const auto network = test::network_of(control_flow::model(), {.config = test::small_config()});
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

  // One line that says what is wrong.
  void expect_error(const std::string& arguments, int code, const std::string& part) {
    EXPECT_EQ(psn(arguments), code) << arguments;
    const std::string error = slurp("stderr");
    EXPECT_TRUE(error.starts_with("psn: error: ")) << error;
    EXPECT_NE(error.find(part), std::string::npos) << error;
    EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 1) << error;
  }
  void write(const char* name, const std::string& text) { std::ofstream(folder_ / name) << text; }

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

// Good diagnostics of an engine say nothing of a surrogate that is far from its simulator.
TEST_F(SurrogateCommands, TellHowFarTheyAreFromTheSimulator) {
  const std::string train = "train surrogate gaussian --lstm_dim 8 --batch_size 64 ";
  const std::string infer = " --observe obs0=2 --observe obs1=3 --query mu -n 2000";
  const auto contains = [&](const char* file, const std::string& part) {
    EXPECT_NE(slurp(file).find(part), std::string::npos) << slurp(file);
  };
  const auto poor =
      json(train + "--traces 64 --learning_rate 1e-6 --validation 200 --out poor.psn");
  const double kl = poor["validation"]["kl_nats_per_trace"];
  ASSERT_GT(kl, 0.1);
  EXPECT_EQ(poor["warnings"].size(), 1u);
  EXPECT_EQ(json("simulate poor.psn -n 10")["surrogate"]["kl_nats_per_trace"], kl);
  const auto result = json("infer poor.psn" + infer);
  EXPECT_EQ(result["surrogate"]["kl_nats_per_trace"], kl);
  EXPECT_EQ(result["surrogate"]["kl_threshold"], 0.1);
  EXPECT_EQ(result["surrogate"]["held_out_traces"], 200);
  EXPECT_EQ(psn("infer poor.psn" + infer), 0);
  contains("stdout", "ESS and k-hat are about the surrogate");
  contains("stderr", "psn: warning: 'poor.psn' is");
  contains("stderr", "psn compare");
  contains("stderr", "--correct");

  const auto good = json(train + "--traces 20000 --validation 2000 --out good.psn");
  ASSERT_LT(good["validation"]["kl_nats_per_trace"].get<double>(), 0.1);
  EXPECT_EQ(good["warnings"].size(), 0u);
  EXPECT_EQ(psn("infer good.psn" + infer), 0);
  contains("stdout", "nats per trace (2000 held out); ESS and k-hat are about the surrogate");
  EXPECT_EQ(slurp("stderr").find("nats"), std::string::npos) << slurp("stderr");

  // A file that does not tell.
  EXPECT_TRUE(json("infer s.psn --observe x=5 -n 500")["surrogate"]["kl_nats_per_trace"].is_null());
  EXPECT_EQ(psn("infer s.psn --observe x=5 -n 500"), 0);
  contains("stderr", "not known");
}

TEST_F(SurrogateCommands, LargeBatchesAreLearnedInParts) {
  const std::string train =
      "train surrogate control-flow --traces 1024 --batch_size 512 --lstm_dim 32 --validation 300 ";
  const auto whole = json(train + "--out whole.psn"),
             parts = json(train + "--memory 1 --out parts.psn");
  EXPECT_NE(slurp("whole.psn"), slurp("parts.psn")) << "sums in another order";
  EXPECT_NEAR(parts["validation"]["loss"].get<double>(), whole["validation"]["loss"].get<double>(),
              1e-3);
  expect_error(train + "--memory 0 --out none.psn", 64, "--memory");
}

TEST_F(SurrogateCommands, TrainingThatFailsLeavesWhatItHadLearned) {
  EXPECT_EQ(
      psn("train surrogate '" PSN_PLUGIN_DIR "/libbroken_drifts.so' --traces 20000 --batch_size "
          "256 --validation 0 --lstm_dim 8 --out t.psn"),
      70);
  const std::string error = slurp("stderr");
  EXPECT_NE(error.find("batch 11 "), std::string::npos) << error;
  EXPECT_NE(error.find("'drifting__Weibull__1'"), std::string::npos) << error;
  EXPECT_NE(error.find("'t.checkpoint.psn'"), std::string::npos) << error;
  EXPECT_FALSE(fs::exists(folder_ / "t.psn"));
  EXPECT_EQ(json("inspect t.checkpoint.psn")["updates"], 8);
  EXPECT_EQ(json("simulate t.checkpoint.psn -n 100")["addresses"], 3);
}

// A random loop before indexed data, learned by default from few traces: as many choices as the
// simulator, none that it could not make, and any engine runs in it.
TEST_F(SurrogateCommands, LearnAnEpidemicFromFewTraces) {
  json("train surrogate epidemic --traces 8000 --validation 0 --seed 1 --out e.psn");
  const auto length = [&](const std::string& model) {
    return json("simulate " + model + " -n 20000 --seed 2")["mean_length"].get<double>();
  };
  EXPECT_NEAR(length("e.psn") / length("epidemic"), 1, 0.03);

  const auto network = load_network((folder_ / "e.psn").string()).network;
  EXPECT_LE(network->transition_count(), 9u);
  SurrogateSimulator surrogate("e", network);
  for (const Trace& trace : test::simulate(surrogate, 5000)) {
    for (const Entry& entry : trace.entries) {
      const Variable& variable = *entry.address->variable;
      ASSERT_EQ(entry.address->instance, 1u) << entry.address->text;
      if (!variable.index) continue;
      ASSERT_GE(*variable.index, 0) << entry.address->text;
      // 19 infections and 20 recoveries at most, and ten weeks.
      ASSERT_LT(*variable.index, variable.site->name == "reported" ? 10 : 39);
    }
  }

  json("train inference e.psn --traces 1000 --validation 0 --lstm_dim 16 --seed 1 --out i.psn");
  for (const std::string engine : {"is", "lmh", "rmh", "ic --network i.psn"}) {
    const auto result = json(
        "infer e.psn -n 500 --query contacts --observe reported=[1,4,6,3,1,0,0,0,0,0] --engine " +
        engine);
    EXPECT_TRUE(result["posterior"]["contacts"]["mean"].is_number()) << engine;
  }
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
  for (const char* command :
       {"simulate s.psn", "inspect s.psn", "graph missing.psn", "compare control-flow s.psn"}) {
    expect_error(command, 65, ".psn");
  }
}

TEST_F(SurrogateCommands, Compare) {
  const std::string command =
      "compare control-flow s.psn -n 2000 --bin c_0 --by theta --bins 5 --range 0,1";
  const auto result = json(command);
  for (const char* key : {"kl_nats_per_trace", "kl_standard_error", "max_transition_deviation",
                          "path_total_variation", "unknown_mass"}) {
    EXPECT_TRUE(result[key].is_number()) << key;
  }
  // Random weights are far from the simulator, and further than it is from itself.
  EXPECT_GT(result["kl_nats_per_trace"], 1);
  EXPECT_GT(result["path_total_variation"], 2 * result["path_total_variation_floor"].get<double>());
  EXPECT_GT(result["max_transition_deviation"], 0.1);
  EXPECT_EQ(result["worst_transition"], result["transitions_above_1_percent"][0]);
  double sum = 0;
  for (const auto& address : result["addresses"]) {
    sum += address["value_kl"].get<double>() + address["transition_kl"].get<double>();
  }
  EXPECT_NEAR(sum, result["kl_of_values"].get<double>() + result["kl_of_transitions"].get<double>(),
              1e-9);
  // In the simulator the loop goes on with probability theta: 0.3 on average between 0.2 and 0.4,
  // within 0.01 for the slope of theta's density, and 5 standard errors.
  const auto& bin = result["conditional_means"]["bins"][1];
  EXPECT_EQ(bin["low"], 0.2);
  EXPECT_NEAR(bin["simulator"]["mean"].get<double>(), 0.3,
              0.01 + 5 * bin["simulator"]["standard_error"].get<double>());
  // Neither threads nor width change anything.
  EXPECT_EQ(json(command + " --threads 1 --width 3"), result);
  EXPECT_EQ(psn(command + " --out r"), 0);
  EXPECT_NE(slurp("stdout").find("KL from the simulator"), std::string::npos);
  EXPECT_TRUE(fs::exists(folder_ / "r" / "comparison.json"));
  EXPECT_EQ(json("compare --config r/config.toml"), result);
}

TEST_F(SurrogateCommands, CompareRefusesWhatCannotBeCompared) {
  expect_error("compare gaussian s.psn -n 1000", 64, "mu__Normal__1");
  expect_error("compare control-flow s.psn -n 10", 64, "-n 10");
  expect_error("compare control-flow gaussian", 64, "'gaussian' is no surrogate");
  expect_error("compare s.psn s.psn", 64, "'s.psn' is a surrogate");
  expect_error("compare control-flow", 64, "surrogate");
  expect_error("compare control-flow s.psn --bin c_0", 64, "--by");
  expect_error("compare control-flow s.psn --bin c_0 --by thetta", 64, "did you mean 'theta'?");
  expect_error("compare control-flow s.psn --bin c_0 --by theta --range 1,0", 64, "--range");
}

TEST_F(SurrogateCommands, GoOnInTheSimulatorWhereTheyKnowNoFurther) {
  const std::string how = " --unknown simulator --simulator control-flow";
  for (const std::string command :
       {"simulate s.psn -n 500", "graph s.psn -n 500", "infer s.psn --observe x=2 -n 500"}) {
    const auto result = json(command + how);
    EXPECT_GT(result["fallbacks"].get<int>(), 10) << command;
    EXPECT_LE(result["fallbacks"].get<int>(), 500) << command;
    EXPECT_EQ(psn(command + how), 0);
    EXPECT_NE(slurp("stderr").find(std::to_string(result["fallbacks"].get<int>()) + " traces"),
              std::string::npos);
    EXPECT_FALSE(json(command).contains("fallbacks"));
  }
  expect_error("simulate s.psn --unknown stop", 70, "unknown address");
  expect_error("simulate s.psn --unknown simulator", 64, "--simulator MODEL");
  expect_error("simulate s.psn --simulator control-flow", 64, "--unknown simulator");
  expect_error("simulate control-flow" + how, 64, "'control-flow' is none");
  expect_error("simulate s.psn --unknown simulator --simulator gaussian", 64, "mu__Normal__1");
}

TEST_F(SurrogateCommands, RecipesFromAFileAndByHand) {
  write("c.toml", R"(
kind = "surrogate"
model = "gaussian"
traces = 600
batch_size = 100
validation = 50
validate_every = 2
loss = "nll"
schedule = "constant"
final_rate = 0.5
clip_norm = 3.5
lstm_dim = 8
mixture_components = 2
transition_hidden_dim = 9
address_embedding_dim = 3
distribution_type_embedding_dim = 4

[variable_layers]
hidden_dim = 12

[variable_embedding.mu]
num_layers = 3
hidden_dim = 7
)");
  ASSERT_EQ(psn("train --config c.toml --out t.psn --clip_norm 2"), 0) << slurp("stderr");
  const auto network = json("inspect t.psn");
  const auto config = network["config"];
  EXPECT_EQ(config["variable_embedding"]["mu"],
            nlohmann::json({{"num_layers", 3}, {"hidden_dim", 7}}));
  EXPECT_EQ(config["variable_layers"], nlohmann::json({{"num_layers", 2}, {"hidden_dim", 12}}));
  EXPECT_EQ(config["mixture_components"], 2);
  EXPECT_EQ(config["transition_hidden_dim"], 9);
  EXPECT_EQ(config["address_embedding_dim"], 3);
  EXPECT_EQ(config["distribution_type_embedding_dim"], 4);
  int validations = 0;
  for (const auto& step : network["history"]) validations += step.contains("validation");
  EXPECT_GE(validations, 3);

  // The effective configuration has everything, the preset's part too, and does the same again.
  const std::string effective = slurp("t.psn.toml");
  for (const char* line :
       {"clip_norm = 2\n", "loss = \"nll\"\n", "schedule = \"constant\"\n",
        "learning_rate = 0.002\n", "lstm_depth = 1\n", "addressing = \"shared\"\n"}) {
    EXPECT_NE(effective.find(line), std::string::npos) << line << effective;
  }
  const std::string first = slurp("t.psn");
  ASSERT_EQ(psn("train --config t.psn.toml"), 0) << slurp("stderr");
  EXPECT_EQ(json("inspect t.psn")["config"], config);
  EXPECT_EQ(slurp("t.psn.toml"), effective);
}

TEST_F(SurrogateCommands, MisspeltRecipesNameTheRightWord) {
  const std::string train = "train surrogate gaussian --traces 100 --out t.psn ";
  const std::pair<const char*, const char*> files[] = {
      {"clip_nrom = 1", "did you mean '--clip_norm'?"},
      {"loss = \"kl\"", "loss"},
      {"[variable_embedding.mu]\nnum_layer = 1", "did you mean 'num_layers'?"},
      {"[variable_embedding.mu]\nnum_layers = \"x\"", "'x' is no count"},
      {"[variable_embedding.my]\nnum_layers = 1", "did you mean 'mu'?"},
      {"[variable_embedding.mu]\nnum_layers = 0", "num_layers"}};
  for (const auto& [text, part] : files) {
    write("bad.toml", text);
    expect_error(train + "--config bad.toml", 64, part);
  }
  EXPECT_FALSE(fs::exists(folder_ / "t.psn"));
}

}  // namespace
}  // namespace psn
