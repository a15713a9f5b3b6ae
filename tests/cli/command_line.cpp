// psn as a user meets it: results on stdout, one clear line per error, documented exit codes,
// nothing left behind.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "tests/cli/command_test.h"

namespace {

using psn::test::CommandTest;
using psn::test::Outcome;
using psn::test::slurp;
namespace fs = std::filesystem;

using CommandLine = CommandTest;

std::string plugin(const std::string& name) {
  return PSN_PLUGIN_DIR "/lib" + name + ".so";
}

TEST_F(CommandLine, InferByImportanceSampling) {
  const auto result = json("infer control-flow --observe x=5 -n 200000 --query theta");
  const auto& theta = result["posterior"]["theta"];
  EXPECT_NEAR(theta["mean"].get<double>(), 0.4447, 0.01);
  EXPECT_NEAR(theta["sd"].get<double>(), 0.1504, 0.01);
  for (const char* key : {"q05", "q25", "q50", "q75", "q95"}) EXPECT_TRUE(theta[key].is_number());
  EXPECT_NEAR(result["log_evidence"].get<double>(), std::log(0.0187051), 0.06);
  EXPECT_GT(result["ess"].get<double>(), 5000);
  EXPECT_TRUE(result["khat"].is_number());
  EXPECT_GT(result["traces_per_second"].get<double>(), 0);
  EXPECT_FALSE(result.contains("rhat"));
}

TEST_F(CommandLine, InferByMetropolis) {
  for (const std::string engine : {"lmh", "rmh"}) {
    const auto result = json(
        "infer gaussian --observe obs0=8 --observe obs1=9 -n 50000 --chains 2 --engine " + engine);
    EXPECT_NEAR(result["posterior"]["mu"]["mean"].get<double>(), 7.25, 0.2);
    EXPECT_NEAR(result["rhat"].get<double>(), 1, 0.05);
    EXPECT_FALSE(result.contains("log_evidence"));
  }
  const Outcome few = psn("infer gaussian --engine lmh -n 2 --chains 1");
  EXPECT_NE(few.out.find("ESS unknown of 2, split R-hat unknown"), std::string::npos) << few.out;
  EXPECT_NE(few.err.find("the effective sample size is not known"), std::string::npos) << few.err;
}

TEST_F(CommandLine, SameSeedSameJsonForAnyWidthAndThreads) {
  for (const std::string engine : {"is", "lmh", "rmh"}) {
    std::string reference;
    for (const char* how : {"--width 1 --threads 1", "--width 64 --threads 1",
                            "--width 1 --threads 2", "--width 64 --threads 2"}) {
      auto result =
          json("infer control-flow --observe x=5 -n 2000 --seed 9 --engine " + engine + " " + how);
      result.erase("traces_per_second");
      if (reference.empty()) reference = result.dump();
      EXPECT_EQ(result.dump(), reference) << engine << " " << how;
    }
  }
}

TEST_F(CommandLine, Simulate) {
  const auto result = json("simulate control-flow -n 20000");
  EXPECT_NEAR(result["mean_length"].get<double>(), 6.5, 0.2);
  EXPECT_GT(result["addresses"].get<int>(), 20);
  EXPECT_GT(result["traces_per_second"].get<double>(), 0);
  const Outcome shown = psn("simulate gaussian -n 2 --show 1");
  EXPECT_NE(shown.out.find("sample   mu__Normal__1 = "), std::string::npos) << shown.out;
}

// Else data that are made up for a trial would be the very first trace of the inference.
TEST_F(CommandLine, SimulationAndInferenceDrawDifferentNumbers) {
  ASSERT_EQ(psn("simulate gaussian -n 50 --query mu --out simulated").code, 0);
  ASSERT_EQ(psn("infer gaussian --observe obs0=1 -n 50 --query mu --out inferred").code, 0);
  const auto means = [&](const char* file) {
    std::set<std::string> found;
    std::ifstream in(folder_ / file);
    for (std::string line; std::getline(in, line);) found.insert(line.substr(line.find(',') + 1));
    return found;
  };
  const auto simulated = means("simulated/samples.csv"), inferred = means("inferred/posterior.csv");
  std::set<std::string> all(simulated);
  all.insert(inferred.begin(), inferred.end());
  EXPECT_EQ(all.size(), 101u);  // with the line of names
}

TEST_F(CommandLine, Graph) {
  const auto result = json("graph control-flow -n 1000");
  EXPECT_EQ(result["traces"], 1000);
  EXPECT_EQ(result["transitions"][0]["from"], "begin-execution");
  EXPECT_TRUE(psn("graph hmm -n 10 --sites").out.starts_with("digraph"));
}

TEST_F(CommandLine, ModelsDoctorExactHelpVersion) {
  std::set<std::string> names;
  const auto models = json("models");
  for (const auto& model : models["models"]) names.insert(model["name"]);
  for (const char* name : {"control-flow", "program-synthesis", "composite-cure", "hmm"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  EXPECT_TRUE(json("doctor")["cores"].is_number());
  EXPECT_NEAR(json("exact")["posterior"]["theta"]["mean"].get<double>(), 0.4447, 1e-4);
  EXPECT_NE(psn("--help").out.find("Exit codes"), std::string::npos);
  EXPECT_TRUE(psn("--version").out.starts_with("psn "));
  for (const char* command :
       {"models", "simulate", "infer", "graph", "exact", "inspect", "doctor"}) {
    const Outcome help = psn(std::string(command) + " --help");
    EXPECT_EQ(help.code, 0);
    for (const char* option : {"--json", "--seed", "--quiet", "--config"}) {
      EXPECT_NE(help.out.find(option), std::string::npos) << command << " " << option;
    }
  }
}

// No line above 100 columns, the whole command in its usage line, every positional once, the
// recipe's defaults, and hyphens.
TEST_F(CommandLine, HelpReadsWell) {
  for (const std::string command :
       {"",          "models",      "simulate",   "infer",       "graph",
        "exact",     "inspect",     "doctor",     "train",       "serve",
        "compare",   "predict",     "keys",       "data",        "data generate",
        "data info", "data verify", "data merge", "data export", "experiment"}) {
    const Outcome help = psn(command + " --help");
    SCOPED_TRACE(command);
    EXPECT_NE(help.out.find("Usage: psn" + (command.empty() ? "" : " " + command) + " ["),
              std::string::npos)
        << help.out;
    std::istringstream lines(help.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
    if (command.empty()) continue;
    EXPECT_EQ(psn("help " + command).out, help.out);
  }
  EXPECT_EQ(psn("help").out, psn("--help").out);
  EXPECT_EQ(psn("help --help").out, psn("--help").out);
  expect_error("help infre", 64, "unknown command 'infre'; did you mean 'infer'?");
  EXPECT_EQ(psn("infer --help").out.find("--model"), std::string::npos);
  const std::string train = psn("train --help").out;
  for (const char* part : {"--lstm-dim,--core-dim UINT", "]=150", "--loss TEXT", "--batch-size"}) {
    EXPECT_NE(train.find(part), std::string::npos) << part << "\n" << train;
  }
  EXPECT_EQ(train.find("lstm_dim"), std::string::npos);
  EXPECT_FALSE(json("doctor").contains("blas"));
}

TEST_F(CommandLine, OptionsWithHyphensOrUnderscores) {
  std::ofstream(folder_ / "c.toml") << "lstm-dim = 8\n[variable-layers]\nnum-layers = 1\n";
  const std::string train = "train surrogate gaussian --traces 60 --batch-size 20 --validation 0 ";
  for (const std::string how : {"--lstm-dim 8 --variable-layers num-layers=1",
                                "--lstm_dim 8 --variable_layers num_layers=1", "--config c.toml"}) {
    ASSERT_EQ(psn(train + how + " --out s.psn").code, 0) << how;
    EXPECT_EQ(json("inspect s.psn")["config"]["lstm_dim"], 8) << how;
  }
  std::ofstream(folder_ / "both.toml") << "lstm-dim = 8\nlstm_dim = 8\n";
  expect_error(train + "--config both.toml --out s.psn", 65, "are one option");
}

TEST_F(CommandLine, Cores) {
  const std::string train = "train surrogate gaussian --traces 60 --batch-size 20 --validation 0 ";
  for (const std::string core : {"gru", "attention"}) {
    ASSERT_EQ(psn(train + "--core " + core + " --core-dim 8 --core-depth 2 --out s.psn").code, 0);
    ASSERT_EQ(psn("train surrogate gaussian --config s.psn.toml --out t.psn").code, 0);
    EXPECT_EQ(slurp(folder_ / "s.psn"), slurp(folder_ / "t.psn"));
    const auto config = json("inspect t.psn")["config"];
    EXPECT_EQ(config["core"], core);
    EXPECT_EQ(config["core_dim"], 8);
    EXPECT_EQ(config["core_depth"], 2);
    EXPECT_EQ(config.contains("attention_heads"), core == "attention");
    EXPECT_EQ(psn("simulate s.psn -n 10").code, 0);
    expect_error(train + "--from s.psn --core lstm --out u.psn", 64, "the network that is given");
  }
  ASSERT_EQ(psn(train + "--core lstm --core-dim 8 --out s.psn").code, 0);
  EXPECT_EQ(json("inspect s.psn")["config"]["lstm_dim"], 8);
  expect_error(train + "--core rnn --out s.psn", 64, "rnn");
}

TEST_F(CommandLine, ObservationsFromFiles) {
  std::ofstream(folder_ / "data.json") << R"({"obs0": 1, "obs1": 2})";
  std::ofstream(folder_ / "data.csv") << "obs0,obs1\n1,2\n";
  std::ofstream(folder_ / "hmm.csv") << "obs\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n";
  const auto direct = json("infer gaussian --observe obs0=1 --observe obs1=2 -n 1000");
  for (const char* file : {"data.json", "data.csv"}) {
    const auto result = json(std::string("infer gaussian -n 1000 --observations ") + file);
    EXPECT_EQ(result["posterior"], direct["posterior"]);
  }
  EXPECT_EQ(json("infer hmm -n 1000 --observations hmm.csv")["posterior"],
            json("infer hmm -n 1000 --observe obs=[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]")["posterior"]);
}

TEST_F(CommandLine, ResultsComeWithTheirConfiguration) {
  ASSERT_EQ(psn("infer control-flow --observe x=5 -n 500 --seed 4 --query theta --out r").code, 0);
  for (const char* file :
       {"config.toml", "posterior.csv", "posterior.safetensors", "summary.json"}) {
    EXPECT_TRUE(fs::exists(folder_ / "r" / file)) << file;
  }
  auto first = nlohmann::json::parse(slurp(folder_ / "r" / "summary.json"));
  ASSERT_EQ(psn("infer --config r/config.toml --out again").code, 0);
  auto second = nlohmann::json::parse(slurp(folder_ / "again" / "summary.json"));
  EXPECT_EQ(first["posterior"], second["posterior"]);
  // Flags override the file.
  ASSERT_EQ(psn("infer --config r/config.toml --seed 5 --out other").code, 0);
  EXPECT_NE(first["posterior"],
            nlohmann::json::parse(slurp(folder_ / "other" / "summary.json"))["posterior"]);
}

TEST_F(CommandLine, Plugins) {
  const auto result = json("infer " + plugin("plugin_example") + " --observe count=12 -n 20000");
  EXPECT_EQ(result["model"], "shop");
  EXPECT_NEAR(result["posterior"]["rate"]["mean"].get<double>(), 1.64, 0.1);
}

TEST_F(CommandLine, ConfigurationsSurviveOddValues) {
  for (const char* odd : {"--out 1e3", "--out 007", "--seed 18446744073709551615 --out r1",
                          "--out 'with \"quotes\"'", "--time-limit 1234.5678901 --out r2"}) {
    ASSERT_EQ(psn(std::string("infer --observe obs0=3 gaussian -n 100 --quiet ") + odd).code, 0)
        << odd;
  }
  for (const char* folder : {"1e3", "007", "r1", "'with \"quotes\"'", "r2"}) {
    const Outcome again = psn(std::string("infer --config ") + folder + "/config.toml --quiet");
    EXPECT_EQ(again.code, 0) << folder << again.err;
  }
  EXPECT_TRUE(fs::exists(folder_ / "007"));
  EXPECT_FALSE(fs::exists(folder_ / "1000"));
  // What is given by hand replaces the file's, wherever it stands.
  std::ofstream(folder_ / "c.toml") << "model = \"gaussian\"\nquiet = 1\nquery = [\"mu\"]\n";
  EXPECT_EQ(psn("infer --seed 3 hmm --config c.toml --query x_0 -n 100").code, 0);
}

TEST_F(CommandLine, RareNamesAndVaryingShapes) {
  EXPECT_EQ(json("infer control-flow --observe x=5 --query z_1_5 -n 2000")["posterior"].size(), 1u);
  EXPECT_TRUE(psn("simulate hmm -n 5 --out s").code == 0);
  EXPECT_NE(slurp(folder_ / "s" / "samples.csv").find("obs_15"), std::string::npos);
  expect_error("simulate hmm -n 5 --query nosuch", 64, "nosuch");
}

TEST_F(CommandLine, ClosedOrFullStdout) {
  for (const char* arguments : {"simulate hmm -n 500 --show 500", "models", "--help"}) {
    const std::string command =
        std::string("'" PSN_PROGRAM "' ") + arguments + " >/dev/full 2>/dev/null";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 65) << arguments;
  }
}

TEST_F(CommandLine, BadWords) {
  expect_error("infer contol-flow", 64, "did you mean 'control-flow'?");
  expect_error("infre control-flow", 64, "did you mean 'infer'?");
  expect_error("infer control-flow --obsreve x=5", 64,
               "unknown option '--obsreve'; did you mean '--observe'?");
  expect_error("infer control-flow --observe y=5", 64,
               "no site of the model takes the observation 'y'");
  expect_error("infer control-flow --observe y=5", 64,
               "it observes: x; its latents: theta, bern_0");
  expect_error("infer control-flow --observe x=[1,2]", 64,
               "observation 'x' has 2 values, but the model takes 1");
  expect_error("infer control-flow --observe x", 64, "expected NAME=VALUE");
  expect_error("infer control-flow --observe x=abc", 64, "--observe 'x=abc'");
  expect_error("infer control-flow --observe x=[[1],[2,3]]", 64, "--observe");
  expect_error("infer control-flow --query thet", 64, "did you mean 'theta'?");
  expect_error("infer control-flow --engine mcmc", 64, "--engine");
  expect_error("infer control-flow -n 0", 64, "--samples");
  expect_error("infer control-flow -n -5", 64, "");
  expect_error("infer control-flow --seed x", 64, "--seed");
  expect_error("infer", 64, "model");
  expect_error("infer gaussian -n 10 --chains 20 --engine lmh", 64, "--chains 20");
  expect_error("infer gaussian --max-length -1", 64, "--max-length");
  expect_error("infer gaussian --time-limit nan", 64, "--time-limit");
  expect_error("infer gaussian --stack-size 4", 64, "--stack-size");
  expect_error("exact --x nan", 64, "--x");
}

TEST_F(CommandLine, BadFiles) {
  expect_error("infer ./missing.so", 65, "missing.so");
  expect_error("infer " PSN_PROGRAM, 65, "cannot load plugin");
  expect_error("infer gaussian --observations none.json", 65, "none.json");
  std::ofstream(folder_ / "bad.json") << "{\"obs0\": ";
  expect_error("infer gaussian --observations bad.json", 65, "'bad.json' is not JSON");
  std::ofstream(folder_ / "text.json") << R"({"obs0": "eight"})";
  expect_error("infer gaussian --observations text.json", 65, "observation 'obs0'");
  std::ofstream(folder_ / "bad.csv") << "obs0,obs1\n1\n";
  expect_error("infer gaussian --observations bad.csv", 65, "'bad.csv', line 2");
  std::ofstream(folder_ / "word.csv") << "obs0\nx\n";
  expect_error("infer gaussian --observations word.csv", 65, "'x' is not a finite number");
  std::ofstream(folder_ / "bad.toml") << "seed = = 3\n";
  expect_error("infer gaussian --config bad.toml", 65, "'bad.toml', line 1");
  std::ofstream(folder_ / "key.toml") << "sede = 3\n";
  expect_error("infer gaussian --config key.toml", 64, "did you mean '--seed'?");
  std::ofstream(folder_ / "deep.json") << std::string(300000, '[');
  expect_error("infer gaussian --observations deep.json", 65, "deep.json");
  std::ofstream(folder_ / "empty.csv") << "";
  expect_error("infer gaussian --observations empty.csv", 65, "empty");
  std::ofstream(folder_ / "twice.CSV") << "obs0,obs0\n1,2\n";
  expect_error("infer gaussian --observations twice.CSV", 65, "twice");
  std::ofstream(folder_ / "file") << "";
  expect_error("infer gaussian -n 10 --quiet --out file/r", 65, "file/r");
}

TEST_F(CommandLine, BrokenSimulators) {
  const std::string common = " -n 100 --out results --time-limit 0.5 ";
  expect_error("infer " + plugin("broken_throws") + common, 70,
               "after 'mu__Normal__1': the mesh is tangled");
  expect_error("infer " + plugin("broken_nan") + common, 70, "address 'next__Normal__1'");
  expect_error("infer " + plugin("broken_endless") + common + "--max-length 1000", 70,
               "longer than 1000 choices");
  expect_error("infer " + plugin("broken_hangs") + common, 70,
               "no random choice for 0.5 s after 'mu__Normal__1'");
  expect_error("simulate " + plugin("broken_throws") + common, 70, "the mesh is tangled");
  expect_error("simulate " + plugin("broken_endless") + " -n 100 --quiet", 70,
               "longer than 1000000 choices");
  expect_error("graph " + plugin("broken_nan") + common, 70, "Normal(mean=");
  EXPECT_FALSE(fs::exists(folder_ / "results"));
}

// A program that throws now and then: its runs are counted, and left out up to --max-failures.
TEST_F(CommandLine, ExceptionsCountTowardsMaxFailures) {
  const std::string rarely = plugin("broken_rarely");
  const std::string small = " --lstm_dim 8 --validation 0 --out s.psn --traces 1000";
  for (const std::string& command :
       {"simulate " + rarely + " -n 1000", "infer " + rarely + " -n 1000 --observe x=1",
        "infer " + rarely + " -n 1000 --observe x=1 --engine lmh", "graph " + rarely + " -n 1000",
        "data generate " + rarely + " -n 1000 --out store", "train surrogate " + rarely + small}) {
    const auto failed = json(command + " --max-failures 0.3")["failed_runs"];
    EXPECT_GT(failed["count"], 10) << command;
    EXPECT_EQ(failed["causes"]["threw"], failed["count"]) << command;
    const std::string last = failed["last"];
    EXPECT_NE(last.find("after 'mu__Normal__1': \\x1b[31mthe  mesh is tangled\\x07"),
              std::string::npos)
        << last;
  }
  for (const std::string& command :
       {"simulate " + rarely, "infer " + rarely + " --observe x=1", "graph " + rarely,
        "data generate " + rarely + " --out other", "train surrogate " + rarely + small + "0"}) {
    expect_error(command, 70, " threw), more than the 100 allowed; model 'broken', trace ");
  }
}

TEST_F(CommandLine, InterruptedRunsLeaveNothing) {
  const Outcome outcome =
      psn("infer control-flow --observe x=5 -n 50000000 --query theta --out r & "
          "sleep 0.7; kill -INT $!; wait $!");
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_FALSE(fs::exists(folder_ / "r"));
}

}  // namespace
