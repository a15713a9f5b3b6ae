// Programs that are hard to copy, that fail, or that leave things behind.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "psn/attach/simulator.h"
#include "psn/base/error.h"
#include "psn/infer/importance.h"
#include "tests/cli/command_test.h"

namespace psn {
namespace {

using attach::AttachedSimulator;
using attach::AttachOptions;

constexpr const char* kValue = "[tag.value]\npattern = \"value ([-+.0-9eE]+)\"\n";

class AttachedPrograms : public test::CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(folder_);
    std::ofstream("input.txt") << "first\nsecond\n";
  }
  void TearDown() override {
    std::filesystem::current_path(before_);
    CommandTest::TearDown();
  }

  static AttachOptions options(const std::string& settings = kValue) {
    return {.settings = attach::parse_settings(settings, "settings"), .max_failures = 100};
  }
  static std::string command(const std::string& mode) {
    return fmt::format("attach:{} {}", PSN_ODD, mode);
  }
  // Of so many runs.
  static Posterior values(AttachedSimulator& simulator, const char* query = "value",
                          std::uint64_t runs = 60) {
    EngineOptions engine;
    engine.samples = runs;
    engine.seed = 3;
    engine.queries = {{query}};
    return simulate(simulator, engine);
  }
  static std::string failing(const std::string& mode) {
    try {
      AttachOptions few = options();
      few.max_failures = 0;
      AttachedSimulator simulator(command(mode), few);
      values(simulator);
    } catch (const ModelError& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path before_;
};

TEST_F(AttachedPrograms, LimitsAreSaidAndAnsweredByStartsOfTheirOwn) {
  AttachedSimulator copied(command("plain"), options());
  EXPECT_EQ(copied.limits(), "");
  const Posterior expected = values(copied);
  EXPECT_EQ(copied.starts(), 1u);
  for (const auto& [mode, limit] : {std::pair{"threads", "it has 2 threads"},
                                    {"socket", "a socket is open"},
                                    {"writes", "a file is open for writing"},
                                    {"wrote", "it has written files"}}) {
    AttachedSimulator simulator(command(mode), options());
    EXPECT_EQ(simulator.limits(), limit);
    const Posterior posterior = values(simulator);
    EXPECT_EQ(simulator.starts(), 61u) << mode;
    EXPECT_EQ(posterior.mean("value"), expected.mean("value")) << mode;  // the same runs
  }
  AttachedSimulator told(command("plain"),
                         options(std::string("[program]\nfresh = true\n") + kValue));
  EXPECT_EQ(values(told).mean("value"), expected.mean("value"));
  EXPECT_EQ(told.starts(), 61u);
}

// A file that is open when the program is copied is read on from where it is, by each copy.
TEST_F(AttachedPrograms, CopiesReadOn) {
  AttachedSimulator simulator(command("reads"),
                              options("[tag.value]\npattern = \"value ([-+.0-9eE]+) second\"\n"));
  EXPECT_EQ(simulator.limits(), "");
  EXPECT_EQ(values(simulator).size(), 60u);
  EXPECT_EQ(simulator.failures().runs, 0u);
}

TEST_F(AttachedPrograms, EachRunHasFilesOfItsOwn) {
  for (const char* mode : {"later", "writes"}) {
    AttachedSimulator simulator(command(mode), options(R"toml(
      [tag.value]
      pattern = "value ([-+.0-9eE]+)"
      [tag.last]
      from = "out.csv"
      column = 2
      [tag.b]
      from = "out.csv"
      column = "b"
      list = true)toml"));
    const Posterior posterior = values(simulator, "last");
    EXPECT_EQ(posterior.size(), 60u);
    EXPECT_GT(posterior.mean("last"), 1) << mode;
    EXPECT_LT(posterior.mean("last"), 2) << mode;
  }
  std::filesystem::create_directory("data");
  std::ofstream("data/input.txt") << "inner\n";
  for (const char* mode : {"spoils", "appends", "inner", "inside"}) {
    AttachedSimulator simulator(command(mode), options());
    values(simulator);
    EXPECT_EQ(test::slurp("input.txt"), "first\nsecond\n") << mode;
  }
  EXPECT_FALSE(std::filesystem::exists("out.csv"));
  EXPECT_FALSE(std::filesystem::exists("data/out.csv"));
  EXPECT_EQ(test::slurp("data/input.txt"), "inner\n");
}

TEST_F(AttachedPrograms, WhatCannotBeIsRefusedInOneLine) {
  for (const auto& [mode, part] : {std::pair{"exits", "without a random choice"},
                                   {"draws", "in several threads"},
                                   {"forks", "it forks"},
                                   {"endless", "printed too much"},
                                   {"dies", "killed by signal 11"},
                                   {"fails", "exit code 5"}}) {
    const std::string said = failing(mode);
    EXPECT_NE(said.find(part), std::string::npos) << mode << ": " << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
  EXPECT_THROW(AttachedSimulator("attach:/no/such/program", options()), ModelError);
  EXPECT_THROW(AttachedSimulator("attach:'", options()), InvalidArgument);
}

// Garbage instead of a greeting ends the work in one line, in a run ends that run.
TEST_F(AttachedPrograms, HostileProgramsDoNoHarm) {
  for (int seed = 1; seed <= 20; ++seed) {
    try {
      AttachOptions hasty = options();
      hasty.start_limit = 2;
      AttachedSimulator simulator(fmt::format("attach:{} hostile {}", PSN_ODD, seed), hasty);
      values(simulator, "value", 3);
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
  }
}

TEST_F(AttachedPrograms, FailedRunsAreCounted) {
  AttachedSimulator dying(command("dies"), options());
  const std::size_t left = values(dying).size();
  EXPECT_EQ(left + dying.failures().runs, 60u);
  EXPECT_EQ(dying.failures().by_cause.at("died"), dying.failures().runs);
  AttachOptions impatient = options();
  impatient.message_limit = 0.2;
  AttachedSimulator hanging(command("hangs"), impatient);
  values(hanging, "value", 12);
  EXPECT_GT(hanging.failures().by_cause["hung"], 0u);
}

TEST_F(AttachedPrograms, ExitCodesCanBeObserved) {
  AttachedSimulator simulator(command("code"), options("[tag.code]\nfrom = \"exit\"\n"));
  const Posterior posterior = values(simulator, "code", 400);
  // 0..9 with equal probability; five standard errors.
  EXPECT_NEAR(posterior.mean("code"), 4.5, 5 * std::sqrt(8.25 / 400));
  EXPECT_EQ(simulator.failures().runs, 0u);
}

// Programs that a run starts find no engine.
TEST_F(AttachedPrograms, ChildrenThatDrawNothingAreNobodysBusiness) {
  AttachedSimulator simulator(command("runs"), options());
  EXPECT_EQ(values(simulator).size(), 60u);
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}
// Of this test, not of those beside it.
std::size_t processes_that_know(const std::string& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string environment = test::slurp(entry.path() / "environ");
    count += environment.find("TMPDIR=" + folder) != std::string::npos;
  }
  return count;
}

TEST_F(AttachedPrograms, AThousandRunsLeaveNothingBehind) {
  ::setenv("TMPDIR", folder_.c_str(), 1);
  const std::size_t descriptors = open_descriptors();
  {
    AttachedSimulator simulator(command("later"), options());
    values(simulator, "value", 900);
    AttachedSimulator leaving(command("leaves"), options());
    values(leaving, "value", 100);
  }
  ::unsetenv("TMPDIR");
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_EQ(processes_that_know(folder_.string()), 0u);  // programs, their runs, the watcher
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_EQ(entry.path().filename(), "input.txt");
  }
}

TEST_F(AttachedPrograms, NothingIsLeftWhenPsnIsKilled) {
  for (const std::string mode : {"plain", "threads"}) {
    const std::filesystem::path temporary = folder_ / ("tmp_" + mode);
    std::filesystem::create_directory(temporary);
    ::setenv("TMPDIR", temporary.c_str(), 1);
    stopped(fmt::format("simulate 'attach:{} {}' -n 100000000", PSN_ODD, mode), SIGKILL, [&] {
      wait_until([&] { return processes_that_know(temporary.string()) > 1; });
      wait(200);
    });
    ::unsetenv("TMPDIR");
    wait_until([&] {
      return processes_that_know(temporary.string()) == 0 && std::filesystem::is_empty(temporary);
    });
  }
}

// ART, a simulator of DNA sequencing, as Debian has it: pairs of reads at the ends of fragments,
// whose lengths are normal around 200. Its output has the length, here measured with an error of 5.
TEST_F(AttachedPrograms, AProgramFromDebianIsConditioned) {
  ASSERT_EQ(std::system("command -v art_illumina >/dev/null"), 0) << "scripts/setup installs it";
  std::ofstream reference("ref.fa");
  reference << ">ref\n";
  for (unsigned i = 0; i < 2000; ++i) reference << "ACGT"[i * i * 7 / 3 % 4];
  reference << "\n";
  reference.close();
  const std::string art =
      "art_illumina -ss HS25 -i ref.fa -p -l 50 -c 1 -m 200 -s 10 -sam -na -q -rs 1 -o out";
  const auto learned = json("attach --runs 2 --learn '" + art + "'");
  std::string site;
  for (const auto& found : learned["sites"]) {
    if (found["type"] == "Normal") site = found["at"];
  }
  std::ofstream("art.toml") << "[site.length]\nat = '" << site << "'\n[observe.measured]\n"
                            << "from = 'out.sam'\nlaw = 'Normal'\nstddev = 5.0\n"
                            << "pattern = '=\\s[0-9]+\\s([0-9]+)\\s[ACGTN]+\\s'\n";
  const auto result = json("infer 'attach:" + art +
                           "' --attach art.toml --observe measured=215 --query length -n 500");
  EXPECT_TRUE(result.contains("started_anew"));
  // Precisions 1/100 and 1/25, of what is more than 200; it is cut to a whole number, by a half on
  // average. Five standard errors of about 150 effective runs.
  const auto length = result["posterior"]["length"];
  EXPECT_NEAR(length["mean"].get<double>(), 12.4, 5 * std::sqrt(20.0 / 130));
  EXPECT_NEAR(length["sd"].get<double>(), std::sqrt(20.0), 5 * std::sqrt(20.0 / 2 / 130));
}

TEST_F(AttachedPrograms, LearnPrintsSettingsThatInferTakes) {
  const auto learned = psn(fmt::format("attach --learn '{} later' --runs 3", PSN_ODD));
  EXPECT_EQ(learned.code, 0) << learned.err;
  EXPECT_NE(learned.out.find("[site.site1]\nat = 'attach_odd+0x"), std::string::npos)
      << learned.out;
  EXPECT_NE(learned.out.find("# It wrote out.csv"), std::string::npos) << learned.out;
  std::ofstream("sim.toml") << learned.out
                            << "\n[observe.y]\nfrom = 'out.csv'\ncolumn = 'b'\nlist = true\n"
                               "law = 'Normal'\nstddev = 0.1\n";
  const auto result =
      json(fmt::format("infer 'attach:{} later' --attach sim.toml "
                       "--observe y=[0.5,1.5] --query site1 -n 400",
                       PSN_ODD));
  EXPECT_NEAR(result["posterior"]["site1"]["mean"].get<double>(), 0.5, 0.1);
  expect_error(fmt::format("infer gaussian --attach sim.toml", PSN_ODD), 64, "--attach");
  expect_error("attach --learn /no/such/program", 70, "without a random choice");
  const auto sites = json(fmt::format("attach --learn '{} plain' --runs 2", PSN_ODD));
  EXPECT_EQ(sites["sites"][0]["type"], "Uniform");
  EXPECT_EQ(sites["sites"][0]["most"], 1);
}

}  // namespace
}  // namespace psn
