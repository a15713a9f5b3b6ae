// Remote simulators in three languages give the very traces of the in-process model, with every
// engine and however they are connected.
#include "psn/ppx/remote.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>

#include "experiments/control_flow/control_flow.h"
#include "experiments/reference/reference.h"
#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/infer/importance.h"
#include "psn/infer/metropolis.h"
#include "psn/nn/run/surrogate.h"
#include "psn/ppx/server.h"
#include "tests/law/inference_fixture.h"
#include "tests/law/particle_filter.h"
#include "tests/protocol/served.h"

namespace psn::ppx {
namespace {

Model model_named(const std::string& name) {
  for (const Model& model :
       {control_flow::model(), reference::gaussian(), reference::hmm(), reference::branching()}) {
    if (model.name == name) return model;
  }
  throw InvalidArgument(name);
}

std::string peer(const std::string& language, const std::string& model,
                 const std::string& endpoint) {
  const std::string program =
      language == "python"
          ? fmt::format("env PYTHONPATH={} {} {}", PSN_PYTHONPATH, PSN_PYTHON, PSN_PEER_PY)
          : (language == "c" ? PSN_PEER_C : PSN_PEER);
  return fmt::format("exec:{} {} {}", program, model, endpoint);
}

const Observations kData{{"x", Value(3.0)}};

std::vector<std::string> described(const std::vector<Trace>& traces) {
  std::vector<std::string> result;
  for (const Trace& trace : traces) {
    std::string text = fmt::format("{:a} {} ", trace.log_weight, trace.result.text());
    for (const Entry& entry : trace.entries) {
      text += fmt::format("{} {} {} {} {:a} {:a};", role_name(entry.role), entry.address->text,
                          entry.address->name(), entry.address->variable->index.value_or(-1),
                          entry.value.scalar(), entry.log_prob);
    }
    result.push_back(text);
  }
  return result;
}

enum class Engine { kForward, kImportance, kLmh, kRmh, kNetwork };

// `network` is for kNetwork.
std::vector<std::string> traces(Simulator& simulator, Engine engine, std::uint64_t samples,
                                const std::shared_ptr<const Network>& network = nullptr) {
  MetropolisOptions options;
  options.samples = samples;
  options.keep_traces = true;
  options.seed = 5;
  options.chains = 4;
  options.random_walk = engine == Engine::kRmh;
  switch (engine) {
    case Engine::kImportance:
      return described(importance_sampling(simulator, kData, options).traces());
    case Engine::kForward:
      return described(simulate(simulator, options).traces());
    case Engine::kNetwork:
      return described(compiled_inference(simulator, network, kData, options).traces());
    default:
      return described(metropolis_hastings(simulator, kData, options).posterior.traces());
  }
}

struct Case {
  std::string language, model;
};

class Peers : public testing::TestWithParam<Case> {};

TEST_P(Peers, TracesAreThoseOfTheModelInProcess) {
  const auto& [language, model] = GetParam();
  InProcess local(model_named(model));
  const auto network = train(local, Purpose::kInference, 64, Addressing::kSite);
  for (const std::string endpoint : {"{endpoint}", "tcp://127.0.0.1:{port}"}) {
    for (const std::size_t workers : {1, 4}) {
      RemoteSimulator remote(peer(language, model, endpoint),
                             {.workers = workers, .message_limit = 60});
      EXPECT_EQ(remote.name(), model);
      EXPECT_EQ(remote.max_simulations(), workers);
      for (const Engine engine :
           {Engine::kForward, Engine::kImportance, Engine::kLmh, Engine::kRmh, Engine::kNetwork}) {
        EXPECT_EQ(traces(remote, engine, 16, network), traces(local, engine, 16, network))
            << endpoint << ", " << workers << " workers, engine " << static_cast<int>(engine);
      }
      EXPECT_EQ(remote.failures().runs, 0u);
    }
  }
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const char* language : {"cpp", "c", "python"}) {
    for (const char* model : {"gaussian", "hmm", "branching", "control-flow"}) {
      cases.push_back({language, model});
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, Peers, testing::ValuesIn(all_cases()), [](const auto& chosen) {
  std::string name = chosen.param.language + "_" + chosen.param.model;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Connections, OverTcpToSeveralServers) {
  InProcess local(control_flow::model());
  const Served first(control_flow::model()), second(control_flow::model());
  RemoteSimulator remote("ppx+" + first.endpoint() + "," + second.endpoint().substr(6), {});
  EXPECT_EQ(remote.max_simulations(), 2u);
  EXPECT_EQ(traces(remote, Engine::kImportance, 200), traces(local, Engine::kImportance, 200));
}

TEST(Connections, OverIpc) {
  const std::string path = fmt::format("{}/psn-test-{}", testing::TempDir(), ::getpid());
  InProcess local(reference::hmm());
  const Served server(reference::hmm(), {}, "ipc://" + path);
  RemoteSimulator remote("ppx+ipc://" + path, {});
  EXPECT_EQ(traces(remote, Engine::kLmh, 100), traces(local, Engine::kLmh, 100));
}

// The engine tells a psn server what was observed, so a program may go on with it.
TEST(Connections, TheObservedValueReachesTheProgram) {
  const Model model("chain", [](Context& ctx) {
    const double y = ctx.observe(Normal(0, 1), {.name = "x"});
    return ctx.sample(Normal(y, 1), {.name = "z"});
  });
  InProcess local(model);
  const Served server(model);
  RemoteSimulator remote("ppx+" + server.endpoint(), {});
  for (const Engine engine : {Engine::kForward, Engine::kImportance}) {
    EXPECT_EQ(traces(remote, engine, 20), traces(local, engine, 20));
  }
}

TEST(Connections, FactorsTagsScopesAndVectors) {
  const Model model("rich", [](Context& ctx) {
    const auto scope = ctx.scope("outer", 2);
    const Value v = ctx.sample(Normal(Value({0, 1, 2, 3, 4}), 1), {.name = "v"});
    ctx.tag(v, {.name = "copy"});
    ctx.factor(-v[0] * v[0], {.name = "down"});
    ctx.factor(0.5, {.name = "up"});
    ctx.sample(Normal(0, 1), {.name = "free", .control = false});
    return v;
  });
  InProcess local(model);
  const Served server(model);
  RemoteSimulator remote("ppx+" + server.endpoint(), {});
  EngineOptions options;
  options.samples = 50;
  options.keep_traces = true;
  const Posterior ours = importance_sampling(local, {}, options);
  const Posterior theirs = importance_sampling(remote, {}, options);
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_DOUBLE_EQ(theirs.log_weights()[i], ours.log_weights()[i]);
    const Trace &a = ours.traces()[i], &b = theirs.traces()[i];
    ASSERT_EQ(a.entries.size(), b.entries.size());
    EXPECT_EQ(a["v"], b["v"]);
    EXPECT_EQ(a.entries[0].address->text, "outer_2/v__Normal[5]__1");
    EXPECT_EQ(b.entries[0].address->text, "outer_2/v__Normal[5]__1");
    EXPECT_EQ(b.entries[1].address->text, "outer_2/copy__Tag__1");
    EXPECT_FALSE(b.entries[4].control);
    EXPECT_EQ(a.result, b.result);
  }
}

TEST(Connections, CurveKeysLetOnlyKnownEnginesIn) {
  const KeyPair server_pair = make_key_pair(), friend_pair = make_key_pair();
  const Served server(reference::gaussian(), {server_pair, {friend_pair.public_key}});
  const std::string argument = "ppx+" + server.endpoint();
  RemoteSimulator known(argument, {.keys = {server_pair.public_key, friend_pair}});
  InProcess local(reference::gaussian());
  EXPECT_EQ(traces(known, Engine::kImportance, 10), traces(local, Engine::kImportance, 10));
  RemoteOptions stranger{.start_limit = 0.15, .keys = {server_pair.public_key, {}}};
  EXPECT_THROW(RemoteSimulator(argument, stranger), ModelError);
  stranger.keys = {};
  EXPECT_THROW(RemoteSimulator(argument, stranger), ModelError);
}

// A trained surrogate, here and served.
struct ServedSurrogate {
  explicit ServedSurrogate(Model model) : simulator(std::move(model)) {}

  InProcess simulator;
  const std::shared_ptr<const Network> network = train(simulator, Purpose::kSurrogate, 2'000);
  SurrogateSimulator local{"s", network};
  const Served server{std::make_unique<SurrogateSimulator>("s", network)};
  RemoteSimulator remote{"ppx+" + server.endpoint(), {}};
};

// Where its way is certain, a served surrogate gives its own traces to the bit.
TEST(ServedSurrogates, GiveTheirTraces) {
  ServedSurrogate s(reference::gaussian());
  EXPECT_EQ(s.remote.name(), "s");
  for (const Engine engine : {Engine::kForward, Engine::kImportance, Engine::kLmh, Engine::kRmh}) {
    EXPECT_EQ(traces(s.remote, engine, 50), traces(s.local, engine, 50))
        << static_cast<int>(engine);
  }
}

// Where it draws its way, the server does so with random numbers of its own: posterior means agree
// within five standard errors (false alarms: one in two million).
TEST(ServedSurrogates, GiveTheirPosterior) {
  ServedSurrogate s(control_flow::model());
  EngineOptions options;
  options.samples = 1'000;
  options.queries = {{"theta"}};
  const auto moments = [&](Simulator& simulator) {
    const Posterior posterior = importance_sampling(simulator, kData, options);
    return std::pair(posterior.mean("theta"),
                     posterior.variance("theta") / posterior.effective_sample_size());
  };
  const auto [ours, our_variance] = moments(s.local);
  const auto [theirs, their_variance] = moments(s.remote);
  EXPECT_NEAR(theirs, ours, 5 * std::sqrt(our_variance + their_variance));
}

TEST(Arguments, AreChecked) {
  for (const char* argument : {"ppx+udp://a:1", "ppx+tcp:", "ppx+tcp://", "ppx+tcp://a:1,",
                               "exec:true", "ppx+tcp://nonsense"}) {
    EXPECT_THROW(RemoteSimulator(argument, {.start_limit = 0.1}), InvalidArgument) << argument;
  }
  EXPECT_TRUE(is_remote("exec:a"));
  EXPECT_FALSE(is_remote("gaussian"));
}

TEST(Arguments, AllMustServeTheSameModel) {
  const Served one(reference::gaussian()), other(reference::hmm());
  EXPECT_THROW(
      {
        RemoteSimulator mixed("ppx+" + one.endpoint() + "," + other.endpoint().substr(6), {});
        // The second is noticed when it has connected, which may take it a while.
        traces(mixed, Engine::kImportance, 10'000);
      },
      InvalidArgument);
}

TEST(Arguments, NobodyThere) {
  EXPECT_THROW(RemoteSimulator("ppx+tcp://127.0.0.1:1", {.start_limit = 0.1}), ModelError);
  try {
    RemoteSimulator("exec:/nowhere/simulator {endpoint}", {});
    FAIL();
  } catch (const ModelError& error) {
    EXPECT_NE(std::string(error.what()).find("cannot run /nowhere/simulator"), std::string::npos)
        << error.what();
  }
}

// Copies of remote runs are runs of their own on the same values, and those given up hold nobody.
TEST(RemoteFork, AParticleFilterHasTheVeryResultOfTheModelInProcess) {
  const reference::HmmParameters p;
  Observations data;
  for (int t = 0; t < 16; ++t) data.set("obs_" + std::to_string(t), Value(p.data[t]));
  InProcess local(reference::hmm());
  for (const char* language : {"cpp", "python"}) {
    RemoteSimulator remote(peer(language, "hmm", "{endpoint}"),
                           {.workers = 6, .message_limit = 60});
    for (const bool fork_before_answers : {false, true}) {
      const auto filtered = [&](Simulator& simulator) {
        const auto ensemble = simulator.ensemble(6);
        PriorGuide prior;
        return particle_filter(*ensemble, prior, data, 3, fork_before_answers);
      };
      const Filtered there = filtered(remote), here = filtered(local);
      EXPECT_EQ(there.log_evidence, here.log_evidence);
      EXPECT_EQ(described(there.particles), described(here.particles));
    }
    EXPECT_EQ(remote.failures().runs, 0u);
  }
}

}  // namespace
}  // namespace psn::ppx
