// psn data, and training from a store.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <map>
#include <set>
#include <thread>

#include "psn/base/rng.h"
#include "psn/data/store.h"
#include "psn/data/store_source.h"
#include "tests/cli/command_test.h"

namespace psn {
namespace {

namespace fs = std::filesystem;
using data::StoreReader;
using test::Outcome;

class DataCommands : public test::CommandTest {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // The command in a process of its own, to be killed.
  pid_t begin(const std::string& arguments) const {
    const pid_t child = ::fork();
    if (child == 0) {
      const std::string command = "exec '" PSN_PROGRAM "' " + arguments + " >/dev/null 2>&1";
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(127);
    }
    return child;
  }

  static void expect_same_traces(const std::string& a, const std::string& b) {
    StoreReader one(a), other(b);
    ASSERT_EQ(one.size(), other.size());
    for (std::uint64_t i = 0; i < one.size(); ++i) {
      ASSERT_EQ(one.payload(i), other.payload(i)) << "trace " << i;
    }
    ASSERT_EQ(one.dictionary().forms().size(), other.dictionary().forms().size());
    for (std::size_t i = 0; i < one.dictionary().forms().size(); ++i) {
      ASSERT_EQ(one.dictionary().form_bytes(i), other.dictionary().form_bytes(i));
    }
  }
};

TEST_F(DataCommands, GeneratesInfoVerifies) {
  const auto made = json("data generate control-flow -n 3000 --out s --seed 3");
  EXPECT_EQ(made["traces"], 3000);
  EXPECT_EQ(made["new_traces"], 3000);
  const auto info = json("data info s");
  EXPECT_EQ(info["traces"], 3000);
  EXPECT_EQ(info["parts"][0]["model"], "control-flow");
  EXPECT_EQ(info["parts"][0]["seed"], 3);
  EXPECT_NEAR(info["length"]["mean"].get<double>(),
              json("simulate control-flow -n 3000")["mean_length"].get<double>(), 0.3);
  EXPECT_NEAR(info["addresses"][0]["per_trace"].get<double>(), 1, 1e-9);
  EXPECT_TRUE(json("data verify s")["clean"].get<bool>());
  EXPECT_NE(psn("data info s").out.find("3000 traces"), std::string::npos);
}

TEST_F(DataCommands, GoesOnWhereItStoppedWhateverTheThreads) {
  json("data generate control-flow -n 5000 --out whole --threads 1 --width 3");
  json("data generate control-flow -n 1 --out parts --threads 2");
  EXPECT_EQ(json("data generate control-flow -n 2500 --out parts")["new_traces"], 2499);
  EXPECT_EQ(json("data generate control-flow -n 2500 --out parts")["new_traces"], 0);
  json("data generate control-flow -n 5000 --out parts --width 100");
  expect_same_traces(path("whole"), path("parts"));
}

// Killed at twenty moments, with commits all the time: what is there is clean and only grows, and
// in the end the store is that of a generation that nothing disturbed.
TEST_F(DataCommands, SurvivesKillsAtAnyMoment) {
  constexpr std::uint64_t kTraces = 150'000;
  const std::string generate = "data generate control-flow --threads 1 -n " +
                               std::to_string(kTraces) + " --commit-every 0.005 --out ";
  Rng rng(7);
  std::set<std::uint64_t> sizes;
  using Seconds = std::chrono::duration<double>;
  const auto before = std::chrono::steady_clock::now();
  ASSERT_EQ(psn("models").code, 0);
  const Seconds start = std::chrono::steady_clock::now() - before;  // long under a sanitizer
  for (int kill = 0; kill < 20; ++kill) {
    const pid_t child = begin(generate + path("killed"));
    std::this_thread::sleep_for(rng.uniform() * (Seconds(0.15) + 2 * start));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    if (!fs::exists(path("killed"))) continue;
    ASSERT_EQ(psn("data verify killed").code, 0);
    const std::uint64_t now = StoreReader(path("killed")).size();
    EXPECT_GE(now, sizes.empty() ? 0 : *sizes.rbegin());
    sizes.insert(now);
  }
  EXPECT_GT(sizes.size(), 1u) << "no kill came while it was growing";
  json(generate + "killed");
  json(generate + "whole");
  expect_same_traces(path("whole"), path("killed"));
}

TEST_F(DataCommands, InterruptedGenerationKeepsWhatItHas) {
  const pid_t child = begin("data generate control-flow -n 100000000 --out " + path("s"));
  while (!fs::exists(path("s/config.toml"))) ::usleep(1000);
  ::usleep(200'000);
  ::kill(child, SIGTERM);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_GT(StoreReader(path("s")).size(), 0u);
  EXPECT_EQ(psn("data verify s").code, 0);
}

TEST_F(DataCommands, RefusesWhatDoesNotFit) {
  json("data generate control-flow -n 100 --out s");
  expect_error("data generate control-flow -n 200 --out s --seed 1", 65, "from seed 0, not of");
  expect_error("data generate gaussian -n 200 --out s", 65, "not of 'gaussian'");
  expect_error("data generate control-flow -n 200", 64, "--out");
  expect_error("data generate control-flow -n 200 --out no/such/s", 65, "cannot create");
  expect_error("data info none", 65, "there is no trace store");
  expect_error("data verify none", 65, "there is no trace store");
  expect_error("data generte", 64, "generate");
  expect_error("train surrogate --out x.psn", 64, "on a model or on --data");
  expect_error("train surrogate control-flow --data s --out x.psn", 64, "one of both");
  expect_error("train surrogate --data none --out x.psn", 65, "there is no trace store");
}

TEST_F(DataCommands, ConfigurationGoesAlong) {
  json("data generate control-flow -n 50 --out s --seed 9");
  EXPECT_NE(test::slurp(path("s/config.toml")).find("psn data generate"), std::string::npos);
  const auto more = json("data generate --config s/config.toml -n 70");
  EXPECT_EQ(more["seed"], 9);
  EXPECT_EQ(more["new_traces"], 20);
}

TEST_F(DataCommands, BothNetworksTrainFromAStore) {
  json("data generate control-flow -n 4000 --out s");
  const std::string train = " --data s --validation 100 --lstm_dim 16 --traces 2000 --seed 5";
  for (const std::string kind : {"surrogate", "inference"}) {
    const auto first = json("train " + kind + train + " --out a.psn");
    EXPECT_EQ(first["traces"], 2000);
    json("train " + kind + train + " --out b.psn");
    EXPECT_EQ(test::slurp(path("a.psn")), test::slurp(path("b.psn")));
  }
  EXPECT_EQ(json("train surrogate --data s --epochs 0.5 --lstm_dim 16 --validation 0 --out c.psn")
                ["traces"],
            1900);
  expect_error("train inference --data s --observe_embedding nothing.num_layers=1 --out d.psn", 64,
               "has no observation named 'nothing'");
}

TEST_F(DataCommands, MergesStoresOfOneModel) {
  for (const std::string seed : {"1", "2", "3"}) {
    json("data generate control-flow -n 500 --out s" + seed + " --seed " + seed);
  }
  EXPECT_EQ(json("data merge s1 s2 s3 --out all")["traces"], 1500);
  EXPECT_TRUE(json("data verify all")["clean"].get<bool>());
  const auto info = json("data info all");
  EXPECT_EQ(info["parts"].size(), 3u);
  EXPECT_EQ(info["parts"][1],
            nlohmann::json::parse(R"({"model": "control-flow", "seed": 2, "traces": 500})"));
  {
    StoreReader all(path("all")), second(path("s2"));
    for (std::uint64_t i = 0; i < 500; ++i) {
      const Trace a = second.read(i), b = all.read(500 + i);
      ASSERT_EQ(a.entries.size(), b.entries.size());
      ASSERT_EQ(a.log_joint, b.log_joint);
      for (std::size_t k = 0; k < a.entries.size(); ++k) {
        ASSERT_EQ(a.entries[k].address->text, b.entries[k].address->text);
        ASSERT_EQ(a.entries[k].value, b.entries[k].value);
      }
    }
  }
  json("data generate gaussian -n 10 --out g");
  expect_error("data merge s1 g --out x", 64, "'g' holds traces of 'gaussian'");
  expect_error("data merge s1 all --out x", 64, "from seed 1, as one before it does");
  expect_error("data merge s1 s1 --out x", 64, "given twice");
  expect_error("data merge s1 s2 --out all", 65, "is there already");
  expect_error("data merge s1 none --out x", 65, "there is no trace store");
  expect_error("data generate control-flow -n 2000 --out all --seed 1", 65, "was merged");
  EXPECT_FALSE(fs::exists(path("x")));
}

TEST_F(DataCommands, ExportsTables) {
  json("data generate hmm -n 5 --out h");
  json("data export h --query obs --out h.csv");
  EXPECT_TRUE(test::slurp(path("h.csv")).starts_with("log_weight,obs_0,obs_1,obs_2,"));
  json("data generate control-flow -n 300 --out s");
  EXPECT_EQ(json("data export s --query theta,x --out t.csv")["traces"], 300);
  const std::string csv = test::slurp(path("t.csv"));
  EXPECT_TRUE(csv.starts_with("log_weight,theta,x\n"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 301);
  EXPECT_EQ(json("data export s --first 290 --count 50 --out t.npz")["traces"], 10);
  // The archive by Python's own reader; the numbers by hand.
  const std::string check =
      "python3 -c \"import zipfile, struct; z = zipfile.ZipFile('" + path("t.npz") +
      "'); assert z.testzip() is None; b = z.read('theta.npy'); "
      "assert b[:8] == b'\\x93NUMPY\\x01\\x00'; n = struct.unpack('<H', b[8:10])[0]; "
      "h = eval(b[10:10+n]); assert h == {'descr': '<f8', 'fortran_order': False, 'shape': (10,)}; "
      "assert (10 + n) % 64 == 0; print(repr(struct.unpack('<10d', b[10+n:])[9]))\" >" +
      path("python");
  ASSERT_EQ(std::system(check.c_str()), 0);
  StoreReader reader(path("s"));
  EXPECT_EQ(std::stod(test::slurp(path("python"))), double(reader.read(299)["theta"]));
  expect_error("data export s --out t.txt", 64, "neither in .csv nor in .npz");
  expect_error("data export s --query thta --out t.csv", 64, "did you mean 'theta'?");
  expect_error("data export s --first 300 --out t.csv", 64, "has 300 traces");
}

TEST_F(DataCommands, AFileThatMayNotGrowIsAnError) {
  const Outcome outcome =
      psn("data generate control-flow -n 10 --out s; ulimit -f 4000; '" PSN_PROGRAM
          "' data generate control-flow -n 10000000 --out s --quiet");
  EXPECT_EQ(outcome.code, 65);
  EXPECT_NE(outcome.err.find("trace store 's': cannot write it"), std::string::npos) << outcome.err;
  EXPECT_EQ(psn("data verify s").code, 0);
  EXPECT_GE(StoreReader(path("s")).size(), 10u);
}

TEST_F(DataCommands, AStoreMayGrowWhileItIsRead) {
  json("data generate control-flow -n 600 --out s");
  json("data generate control-flow -n 1000 --out whole");
  StoreReader whole(path("whole")), reader(path("s"));
  std::map<double, std::uint64_t> number;
  for (std::uint64_t i = 0; i < 1000; ++i) number[whole.read(i).log_joint] = i;
  std::vector<Trace> some;
  const auto drain = [&](data::StoreSource& source) {
    std::vector<std::uint64_t> all;
    for (source.take(64, some); !some.empty(); source.take(64, some)) {
      for (const Trace& trace : some) all.push_back(number.at(trace.log_joint));
    }
    return all;
  };
  data::Epoch epoch;
  std::vector<std::uint64_t> rest;
  {
    data::StoreSource source(reader, {.seed = 5, .count = 570 + 950, .ahead = 64});
    source.take(300, some);
    json("data generate control-flow -n 1000 --out s");
    source.take(70, some);
    epoch = source.epoch(370);
    EXPECT_EQ(epoch.traces, 600u);
    rest = drain(source);
  }
  ASSERT_EQ(rest.size(), 200u + 950);
  EXPECT_EQ(std::set(rest.begin() + 200, rest.end()).size(), 950u);
  // Training that is taken up again is still in the epoch that it was in.
  data::StoreSource again(reader, {.seed = 5, .count = 570 + 950, .first = 370, .epoch = epoch});
  EXPECT_EQ(drain(again), rest);
}

// Readers in other processes while it grows: never anything but what will be there.
TEST_F(DataCommands, IsCleanAtEveryMomentOfItsGrowth) {
  json("data generate control-flow -n 10 --out s");
  const pid_t child = begin("data generate control-flow -n 200000 --out " + path("s"));
  std::uint64_t before = 0;
  for (int status = 0; ::waitpid(child, &status, WNOHANG) == 0;) {
    ASSERT_EQ(psn("data verify s").code, 0);
    const std::uint64_t now = StoreReader(path("s")).size();
    EXPECT_GE(now, before);
    before = now;
  }
  EXPECT_EQ(StoreReader(path("s")).size(), 200'000u);
}

}  // namespace
}  // namespace psn
