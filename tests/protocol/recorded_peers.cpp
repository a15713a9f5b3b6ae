// psn in the place of either side of a recorded conversation: the other side's bytes are played
// back to it as they were.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <thread>
#include <zmq.hpp>

#include "psn/base/numerics.h"
#include "psn/core/in_process.h"
#include "psn/infer/importance.h"
#include "psn/ppx/remote.h"
#include "psn/ppx/server.h"
#include "tests/protocol/describe.h"
#include "tests/protocol/recording.h"

namespace psn::ppx {
namespace {

constexpr std::string_view kScheme = "ipc://";

std::string socket_path() {
  static int count = 0;
  return fmt::format("ipc://{}/psn-recorded-{}-{}", testing::TempDir(), ::getpid(), ++count);
}

Message decoded(const zmq::message_t& message) {
  return decode({static_cast<const std::byte*>(message.data()), message.size()});
}

// Answers each message with the simulator's next recorded one.
class PlayedSimulator {
 public:
  explicit PlayedSimulator(std::vector<Recorded> conversation)
      : conversation_(std::move(conversation)), socket_(context_, zmq::socket_type::rep) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::rcvtimeo, 20'000);
    socket_.bind(endpoint_);
    thread_ = std::thread([this] { play(); });
  }
  ~PlayedSimulator() {
    thread_.join();
    std::remove(endpoint_.c_str() + kScheme.size());
  }
  PlayedSimulator(const PlayedSimulator&) = delete;
  PlayedSimulator& operator=(const PlayedSimulator&) = delete;

  std::string argument() const { return "ppx+" + endpoint_; }
  const std::vector<std::string>& heard() const { return heard_; }

 private:
  void play() {
    for (const Recorded& m : conversation_) {
      if (m.from == '>') {
        zmq::message_t message;
        if (!socket_.recv(message, zmq::recv_flags::none)) return;
        heard_.push_back(describe(decoded(message)));
      } else {
        socket_.send(zmq::buffer(m.bytes.data(), m.bytes.size()), zmq::send_flags::none);
      }
    }
  }

  std::vector<Recorded> conversation_;
  std::string endpoint_ = socket_path();
  zmq::context_t context_;
  zmq::socket_t socket_;
  std::vector<std::string> heard_;
  std::thread thread_;
};

std::string summary(const Trace& trace) {
  std::string text;
  for (const Entry& entry : trace.entries) {
    text += fmt::format("{} {} '{}'\n", role_name(entry.role), entry.address->text,
                        entry.address->name());
  }
  return text;
}

TEST(PsnAsTheEngine, OfARecordedGaussian) {
  PlayedSimulator simulator(recording("gum"));
  RemoteSimulator remote(simulator.argument(), {});
  EXPECT_EQ(remote.name(), "Gaussian with unknown mean C++");
  EngineOptions options;
  options.samples = 2;
  options.keep_traces = true;
  const Posterior posterior =
      importance_sampling(remote, {{"obs0", Value(8.0)}, {"obs1", Value(9.0)}}, options);
  const double means[2] = {-1.1393094062805176, 5.108211517333984};
  for (std::size_t i = 0; i < 2; ++i) {
    const Trace& trace = posterior.traces()[i];
    EXPECT_EQ(summary(trace),
              "sample [forward()+0x96]__Normal__1 ''\n"
              "observe [forward()+0x152]__Normal__1 'obs0'\n"
              "observe [forward()+0x196]__Normal__1 'obs1'\n");
    const Distribution likelihood = Normal(means[i], std::sqrt(2.0));
    EXPECT_DOUBLE_EQ(trace.log_weight, likelihood.log_prob(8.0) + likelihood.log_prob(9.0));
    EXPECT_EQ(trace.result, Value(means[i]));
  }
  ASSERT_EQ(simulator.heard().size(), 9u);
  EXPECT_EQ(simulator.heard()[1], "Run");
  EXPECT_EQ(simulator.heard()[2].substr(0, 13), "SampleResult ");
  // Nothing that a foreign simulator does not expect.
  EXPECT_EQ(simulator.heard()[3], "ObserveResult []");
}

TEST(PsnAsTheEngine, OfEveryFamily) {
  PlayedSimulator simulator(recording("distributions"));
  RemoteSimulator remote(simulator.argument(), {});
  EngineOptions options;
  options.samples = 2;
  options.keep_traces = true;
  const Posterior posterior = simulate(remote, options);
  const Trace& trace = posterior.traces()[0];
  ASSERT_EQ(trace.entries.size(), 11u);
  EXPECT_EQ(trace.entries[2].address->text, "[forward()+0x523]__Categorical(len_probs:3)__1");
  for (const Entry& entry : trace.entries) {
    EXPECT_EQ(entry.distribution->log_prob(entry.value), entry.log_prob);
    EXPECT_TRUE(std::isfinite(entry.log_prob));
  }
}

// What peers may do besides.
TEST(PsnAsTheEngine, OfAnUnusualSimulator) {
  Encoder encoder(ScalarShape::kOne);
  std::vector<Recorded> conversation;
  const auto add = [&](const Message& reply) {
    const auto bytes = encoder.encode(reply);
    conversation.push_back({'>', {}});
    conversation.push_back({'<', {bytes.begin(), bytes.end()}});
  };
  add(HandshakeResult{"other 1.0", ""});
  add(Sample{"loop", "first", Normal(0, 1), true});  // one address by two names
  add(Sample{"loop", "second", Normal(0, 1), true});
  add(Sample{"loop", "", Normal(0, 1), false});  // and by none, out of control
  add(Sample{"", "name only", Categorical({1, 1, 1}), true});
  add(Observe{"o", "data", std::nullopt, Value(4.0)});  // no distribution
  add(Observe{"o", "", Normal(0, 1), Value(2.0)});      // no name
  add(Tag{"t", "", Value({1, 2})});
  add(RunResult{});
  PlayedSimulator simulator(std::move(conversation));
  RemoteSimulator remote(simulator.argument(), {});
  EngineOptions options;
  options.samples = 1;
  options.keep_traces = true;
  const Posterior posterior = importance_sampling(remote, {}, options);
  const Trace& trace = posterior.traces()[0];
  EXPECT_EQ(summary(trace),
            "sample loop__Normal__1 'first'\n"
            "sample loop__Normal__2 'second'\n"
            "sample loop__Normal__3 ''\n"
            "sample name only__Categorical(len_probs:3)__1 'name only'\n"
            "observe o__Observe__1 'data'\n"
            "observe o__Normal__1 ''\n"
            "tag t__Tag__1 ''\n");
  EXPECT_FALSE(trace.entries[2].control);
  EXPECT_NEAR(trace.entries[3].log_prob, -std::log(3), 1e-12);
  EXPECT_DOUBLE_EQ(trace.log_weight, Distribution(Normal(0, 1)).log_prob(2.0));
  EXPECT_TRUE(trace.result.empty());
}

// A model that makes the recorded requests, run after run.
Model played_model(const std::string& name) {
  std::vector<std::vector<Message>> runs;
  for (const Recorded& m : recording(name)) {
    const Message message = decode(m.bytes);
    if (std::holds_alternative<ppx::Run>(message)) runs.emplace_back();
    if (m.from == '<' && !runs.empty()) runs.back().push_back(message);
  }
  auto next = std::make_shared<std::size_t>(0);
  return Model(name, [runs, next](Context& ctx) {
    Value result;
    for (const Message& message : runs[(*next)++ % runs.size()]) {
      if (const auto* s = std::get_if<Sample>(&message)) {
        ctx.sample(s->distribution,
                   {.name = s->name, .address = s->address, .control = s->control});
      } else if (const auto* o = std::get_if<Observe>(&message)) {
        EXPECT_TRUE(
            std::isnan(ctx.observe(*o->distribution, {.name = o->name, .address = o->address})
                           .scalar()));  // a foreign engine does not tell
      } else {
        result = std::get<RunResult>(message).result;
      }
    }
    return result;
  });
}

// Serves a model on a thread, and speaks to it.
class Conversation {
 public:
  explicit Conversation(Model model)
      : simulator_(std::move(model)), socket_(context_, zmq::socket_type::req) {
    options_.endpoint = socket_path();
    options_.stop = &stop_;
    options_.log = [this](const std::string& line) { log_ += line + "\n"; };
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::rcvtimeo, 20'000);
    socket_.connect(options_.endpoint);
    thread_ = std::thread([this] { serve(simulator_, options_); });
  }
  ~Conversation() {
    stop_.store(true);
    thread_.join();
    std::remove(options_.endpoint.c_str() + kScheme.size());
  }
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  std::string say(std::span<const std::byte> bytes) {
    socket_.send(zmq::buffer(bytes.data(), bytes.size()), zmq::send_flags::none);
    zmq::message_t reply;
    if (!socket_.recv(reply, zmq::recv_flags::none)) return "silence";
    return describe(decoded(reply));
  }
  std::string say(const Message& message) {
    Encoder encoder(ScalarShape::kOne);
    return say(encoder.encode(message));
  }
  const std::string& log() const { return log_; }  // once a reply has come

 private:
  InProcess simulator_;
  ServeOptions options_;
  std::atomic<bool> stop_{false};
  std::string log_;
  zmq::context_t context_;
  zmq::socket_t socket_;
  std::thread thread_;
};

TEST(PsnAsTheSimulator, OfARecordedEngine) {
  for (const char* name : {"gum", "branching", "distributions"}) {
    Conversation conversation(played_model(name));
    const auto messages = recording(name);
    for (std::size_t i = 0; i + 1 < messages.size(); i += 2) {
      const std::string reply = conversation.say(messages[i].bytes);
      if (i == 0) {
        EXPECT_EQ(reply.substr(0, 21), "HandshakeResult 'psn ");
      } else {
        EXPECT_EQ(reply, describe(decode(messages[i + 1].bytes))) << name << ", message " << i;
      }
    }
    EXPECT_EQ(conversation.log(), "");
  }
}

TEST(PsnAsTheSimulator, OfAnEngineOutOfStep) {
  Conversation conversation(Model("m", [](Context& ctx) {
    const double x = ctx.sample(Normal(0, 1), {.name = "x"});
    if (x > 10) throw std::runtime_error("the mesh is tangled");
    if (x < -10) ctx.sample(TruncatedNormal(0, 1, -1, 1), {.name = "y"});
    if (x == 3) ctx.sample(Normal(kNaN, 1), {.name = "z"});
    return x;
  }));
  const std::string sample = "Sample 'x' 'x' Normal(mean=0, stddev=1) controlled";
  EXPECT_EQ(conversation.say(SampleResult{1.0}), "Reset");
  EXPECT_EQ(conversation.say(ppx::Run{}), sample);
  EXPECT_EQ(conversation.say(ppx::Run{}), sample);  // begins anew
  EXPECT_EQ(conversation.say(TagResult{}), "Reset");
  EXPECT_EQ(conversation.say(SampleResult{1.0}), "Reset");
  EXPECT_EQ(conversation.say(ppx::Run{}), sample);
  EXPECT_EQ(conversation.say(SampleResult{Value({1, 2})}), "Reset");
  EXPECT_EQ(conversation.say(Bytes(100)), "Reset");
  for (const double bad : {11.0, -11.0, 3.0}) {
    EXPECT_EQ(conversation.say(ppx::Run{}), sample);
    EXPECT_EQ(conversation.say(SampleResult{bad}), "Reset") << bad;
  }
  EXPECT_NE(conversation.log().find("the mesh is tangled"), std::string::npos);
  EXPECT_NE(conversation.log().find("PPX has no TruncatedNormal"), std::string::npos);
  EXPECT_NE(conversation.log().find("address 'z__Normal__1'"), std::string::npos);
  EXPECT_EQ(conversation.say(ppx::Run{}), sample);
  EXPECT_EQ(conversation.say(SampleResult{2.0}), "RunResult 2");
}

}  // namespace
}  // namespace psn::ppx
