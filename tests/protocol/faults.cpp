// Simulators that die, hang and talk nonsense: the work goes on, every failure is counted, nothing
// is left behind.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "experiments/reference/reference.h"
#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/infer/importance.h"
#include "psn/infer/metropolis.h"
#include "psn/ppx/remote.h"
#include "psn/ppx/server.h"

namespace psn::ppx {
namespace {

std::string faulty(const std::string& fault, int period) {
  return fmt::format("exec:{} {} {} {{endpoint}}", PSN_FAULTY, fault, period);
}

// Processes that any thread of this one has started and not yet buried.
std::set<pid_t> children() {
  std::set<pid_t> found;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream in(task.path() / "children");
    for (pid_t pid = 0; in >> pid;) found.insert(pid);
  }
  return found;
}

struct Expected {
  std::string fault, cause;
};

const std::vector<Expected> kFaults{
    {"crash", "died"},
    {"exit", "died"},
    {"close", "died"},
    {"large", "died"},
    {"bars", "died"},
    {"hang", "hung"},
    {"spam", "hung"},
    {"throw", "gave up"},
    {"garbage", "sent garbage"},
    {"empty", "sent garbage"},
    {"frames", "sent garbage"},
    {"many", "sent garbage"},
    {"bare", "sent garbage"},
    {"huge", "sent garbage"},
    {"negative", "sent garbage"},
    {"ragged", "sent garbage"},
    {"long_name", "sent garbage"},
    {"control_name", "sent garbage"},
    {"no_name", "sent garbage"},
    {"flood", "sent garbage"},
    {"step", "out of step"},
    {"handshake", "out of step"},
    {"handshake_result", "out of step"},
    {"run", "out of step"},
    {"sample_result", "out of step"},
    {"observe_result", "out of step"},
    {"nan", "sent impossible values"},
    {"infinite", "sent impossible values"},
    {"shapes", "sent impossible values"},
    {"no_categories", "sent impossible values"},
    {"result", "sent impossible values"},
    {"nan_tag", "sent impossible values"},
    {"no_tag", "sent impossible values"},
    {"nan_observed", "sent impossible values"},
    {"other_shape", "sent impossible values"},
    {"nothing", "sent impossible values"},
};

class Fault : public testing::TestWithParam<Expected> {
 protected:
  // Only these take their time; others must not be taken for hung on a busy machine.
  bool hangs() const { return GetParam().cause == "hung"; }
  bool is_slow() const { return hangs() || GetParam().cause == "died"; }
  double message_limit() const { return hangs() ? 0.5 : 60; }
};

TEST_P(Fault, IsCountedAndTheRestGoesOn) {
  const auto& [fault, cause] = GetParam();
  const std::uint64_t samples = is_slow() ? 40 : 200;
  RemoteSimulator remote(faulty(fault, 20),
                         {.workers = 2, .max_failures = 20, .message_limit = message_limit()});
  EngineOptions options;
  options.samples = samples;
  options.queries = {{"x"}};
  const Posterior posterior = simulate(remote, options);
  const Failures failures = remote.failures();
  EXPECT_GT(failures.runs, 0u);
  EXPECT_EQ(posterior.size() + failures.runs, samples);
  EXPECT_EQ(failures.by_cause.at(cause), failures.runs);
  EXPECT_NE(failures.last.find(fault == "flood" ? "before its first" : "after 'x__Normal__1'"),
            std::string::npos)
      << failures.last;
  const std::string words = fault == "spam"   ? "more and more | more"
                            : fault == "bars" ? "999 % done | \\x1b[31mout of \\xffluck\\x1b[0m"
                                              : "about to misbehave: " + fault;
  EXPECT_NE(failures.last.find(words), std::string::npos) << failures.last;
  EXPECT_LT(failures.last.size(), 1000u);
}

TEST_P(Fault, AboveTheLimitTheWorkIsGivenUp) {
  const auto& [fault, cause] = GetParam();
  try {
    RemoteSimulator remote(faulty(fault, 1), {.max_failures = 2, .message_limit = message_limit()});
    EngineOptions options;
    options.samples = 10'000;
    simulate(remote, options);
    FAIL();
  } catch (const ModelError& error) {
    const std::string expected = fmt::format(
        "3 runs of the simulator failed (3 {}), more than the 2 allowed; trace ", cause);
    EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(All, Fault, testing::ValuesIn(kFaults),
                         [](const auto& chosen) { return chosen.param.fault; });

TEST(Faults, ASimulatorThatNeverSucceedsIsGivenUpEarly) {
  try {
    RemoteSimulator remote(faulty("throw", 1), {.max_failures = 100});
    EngineOptions options;
    options.samples = 10'000;
    simulate(remote, options);
    FAIL();
  } catch (const ModelError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("10 runs of the simulator failed (10 gave up), and none succeeded"),
              std::string::npos)
        << text;
    EXPECT_TRUE(text.ends_with("NameError: name 'mu' is not defined")) << text;
  }
}

// A second answer to a request is none to the next: the traces are those of an honest simulator.
TEST(Faults, AnswersToEarlierRequestsAreNotTaken) {
  InProcess local(Model("x", [](Context& ctx) { ctx.sample(Normal(0, 1), {.name = "x"}); }));
  EngineOptions options;
  options.samples = 300;
  options.keep_traces = true;
  const Posterior expected = simulate(local, options);
  for (const std::string fault : {"twice", "late"}) {
    RemoteSimulator remote(faulty(fault, 2), {.workers = 2});
    const Posterior posterior = simulate(remote, options);
    EXPECT_EQ(remote.failures().runs, 0u);
    for (std::size_t i = 0; i < options.samples; ++i) {
      ASSERT_EQ(posterior.traces()[i].entries.size(), 1u) << fault << ", trace " << i;
      ASSERT_EQ(posterior.traces()[i]["x"], expected.traces()[i]["x"]) << fault;
    }
  }
}

// A message with one wrong bit is refused, or is another message: nothing worse comes of it.
TEST(Faults, NoiseDoesNoHarm) {
  RemoteSimulator remote(faulty("noise", 2), {.workers = 2, .max_failures = 1'000});
  EngineOptions options;
  options.samples = 400;
  try {
    EXPECT_EQ(simulate(remote, options).size() + remote.failures().runs, 400u);
  } catch (const ModelError& error) {
    EXPECT_NE(std::string(error.what()).find("address 'y"), std::string::npos) << error.what();
  }
}

TEST(Faults, LiesAtTheHandshake) {
  for (const auto& [fault, problem] : std::vector<std::pair<std::string, std::string>>{
           {"greet_garbage", "no PPX message"},
           {"greet_frames", "a message of several frames"},
           {"greet_step", "answered the handshake with Reset"},
           {"greet_exit", "exit code 3"},
           {"greet_never", "no handshake within 1 s"}}) {
    try {
      RemoteSimulator(faulty(fault, 1), {.start_limit = fault == "greet_never" ? 1.0 : 60.0});
      ADD_FAILURE() << fault;
    } catch (const ModelError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("no simulator is left; "), std::string::npos) << text;
      EXPECT_NE(text.find(problem), std::string::npos) << text;
    }
  }
  RemoteSimulator renamed(faulty("rename", 5), {.max_failures = 10});
  EngineOptions options;
  options.samples = 20;
  try {
    simulate(renamed, options);
    FAIL();
  } catch (const ModelError& error) {
    EXPECT_NE(std::string(error.what()).find("serves the model 'model "), std::string::npos)
        << error.what();
  }
}

TEST(Faults, ARunThatNeverEndsIsEnded) {
  RemoteSimulator remote(faulty("endless", 10), {.max_failures = 2, .run_limit = 0.5});
  EngineOptions options;
  options.samples = 15;
  EXPECT_EQ(simulate(remote, options).size(), 14u);
  EXPECT_EQ(remote.failures().by_cause.at("took too long"), 1u);
}

// Metropolis-Hastings takes a failed run for a rejected proposal.
TEST(Faults, ChainsGoOn) {
  RemoteSimulator remote(faulty("crash", 25), {.workers = 2, .max_failures = 50});
  MetropolisOptions options;
  options.samples = 200;
  options.chains = 2;
  options.queries = {{"x"}};
  const auto result = metropolis_hastings(remote, {}, options);
  EXPECT_EQ(result.posterior.size(), 200u);
  EXPECT_GT(remote.failures().runs, 2u);
}

// 10,000 traces on four workers while someone kills, stops and garbles them.
TEST(Faults, SabotageInTheMiddleOfALongRun) {
  constexpr std::uint64_t kTraces = 10'000;
  std::set<pid_t> seen;
  std::uint64_t sabotages = 0;
  const auto before = children();
  {
    RemoteSimulator remote(faulty("none", 1'000'000'000),
                           {.workers = 4, .max_failures = 100, .message_limit = 3});
    Monitor monitor;
    std::atomic<bool> done{false};
    std::thread saboteur([&] {
      std::uint64_t next = 500;
      while (!done.load()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        for (const pid_t pid : children()) {
          if (!before.contains(pid)) seen.insert(pid);
        }
        if (monitor.traces.load() < next || seen.empty()) continue;
        next += 700;
        const auto now = children();
        std::vector<pid_t> victims;
        std::set_difference(now.begin(), now.end(), before.begin(), before.end(),
                            std::back_inserter(victims));
        if (victims.empty()) continue;
        // Not the same one twice in a row: it may still be stopped.
        ::kill(victims[sabotages % victims.size()],
               std::array{SIGKILL, SIGSTOP, SIGUSR1}[sabotages % 3]);
        ++sabotages;
      }
    });
    EngineOptions options;
    options.samples = kTraces;
    options.queries = {{"x"}};
    options.monitor = &monitor;
    const Posterior posterior = simulate(remote, options);
    done.store(true);
    saboteur.join();

    const Failures failures = remote.failures();
    EXPECT_EQ(posterior.size() + failures.runs, kTraces);
    EXPECT_GE(sabotages, 10u);
    EXPECT_LE(failures.runs, sabotages);  // none costs more than the run it met
    EXPECT_GE(failures.by_cause.at("died"), 1u);
    EXPECT_GE(failures.by_cause.at("hung"), 1u);
    EXPECT_GE(failures.by_cause.at("sent garbage"), 1u);

    // What was not lost is what an undisturbed run gives.
    EngineOptions again = options;
    again.keep_traces = true;
    InProcess local(Model("x", [](Context& ctx) { ctx.sample(Normal(0, 1), {.name = "x"}); }));
    const Posterior whole = simulate(local, again);
    std::size_t j = 0;
    for (std::size_t i = 0; i < kTraces && j < posterior.size(); ++i) {
      if (whole.value("x", i) == posterior.value("x", j)) ++j;
    }
    EXPECT_EQ(j, posterior.size());
  }
  EXPECT_EQ(children(), before);
  for (const pid_t pid : seen) EXPECT_EQ(::kill(pid, 0), -1) << "process " << pid << " is left";
}

// A server that is not ours and goes away: the run fails, the other server takes the rest.
TEST(Faults, ALostConnection) {
  const auto program = [](Context& ctx) { ctx.sample(Normal(0, 1), {.name = "x"}); };
  InProcess simulator(Model("x", program));
  std::atomic<bool> stop[2] = {false, false};
  std::vector<std::string> endpoints(2);
  std::vector<std::thread> servers;
  for (int i = 0; i < 2; ++i) {
    std::atomic<bool> ready{false};
    servers.emplace_back([&, i] {
      InProcess own(Model("x", program));
      ServeOptions options;
      options.endpoint = "tcp://127.0.0.1:*";
      options.stop = &stop[i];
      options.ready = [&, i](const std::string& endpoint) {
        endpoints[i] = endpoint;
        ready.store(true);
        ready.notify_all();
      };
      serve(own, options);
    });
    ready.wait(false);
  }
  RemoteSimulator remote("ppx+" + endpoints[0] + "," + endpoints[1].substr(6),
                         {.max_failures = 10, .start_limit = 2});
  Monitor monitor;
  std::thread saboteur([&] {
    while (monitor.traces.load() < 200) std::this_thread::yield();
    stop[0].store(true);
    servers[0].join();
  });
  EngineOptions options;
  options.samples = 3'000;
  options.monitor = &monitor;
  const Posterior posterior = simulate(remote, options);
  saboteur.join();
  EXPECT_EQ(posterior.size() + remote.failures().runs, 3'000u);
  EXPECT_LE(remote.failures().runs, 1u);
  stop[1].store(true);
  servers[1].join();
}

}  // namespace
}  // namespace psn::ppx
