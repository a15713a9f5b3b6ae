// libFuzzer target (scripts/fuzz): what peers say, in any order, to a simulator that psn serves and
// to an engine of psn's. The first byte says to which.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <zmq.hpp>

#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/infer/importance.h"
#include "psn/ppx/remote.h"
#include "psn/ppx/service.h"
#include "tests/fuzz/script.h"

namespace {

using namespace psn;
using namespace psn::ppx;
using psn::test::Script;

void demand(bool holds) {
  if (!holds) std::abort();
}

// What a good engine says to that.
Message proper_answer(const Message& request, Rng& rng) {
  if (const auto* sample = std::get_if<Sample>(&request)) {
    return SampleResult{sample->distribution.draw(rng)};
  }
  if (const auto* observe = std::get_if<Observe>(&request)) {
    const bool tells = observe->distribution && rng.below(2) == 0;
    return ObserveResult{tells ? observe->distribution->draw(rng) : Value()};
  }
  if (std::holds_alternative<Tag>(request)) return TagResult{};
  return ppx::Run{};
}

// Every sort of request, and runs that fail.
Model served() {
  return Model("served", [](Context& ctx) {
    const double x = ctx.sample(Normal(1, 2), {.name = "x"});
    const auto k = ctx.sample(Categorical({0.2, 0.3, 0.4, 0.1}), {.name = "k"}).integer();
    const std::array shares{0.1, 0.2, 0.3, 0.4};
    ctx.sample(Binomial(10, shares.at(static_cast<std::size_t>(k))), {});
    if (k == 3) ctx.sample(TruncatedNormal(0, 1, -1, 1), {.name = "unknown to PPX"});
    const auto count = ctx.sample(Poisson(2), {.name = "count", .control = false}).integer();
    for (std::int64_t i = 0; i < std::min<std::int64_t>(count, 5); ++i) {
      ctx.sample(Gamma(2, Value{1.0, 2.0}), {.name = "gamma", .index = i});
    }
    ctx.tag(Value({1, 2, 3, 4, x, 6}, {2, 3}), {.name = "matrix"});
    ctx.factor(-std::abs(x), {.name = "factor"});
    const Value y = ctx.observe(Normal(Value{x, x}, 0.5), {.name = "y"});
    ctx.observe(Poisson(std::exp(std::min(x, 20.0))), 3.0, {.name = "z"});
    if (x > 4) throw std::runtime_error("too large");
    return k == 1 ? y : k == 2 ? Value() : Value(x);
  });
}

// Three engines, two runs, and engines that go, hang and talk nonsense.
void play_engines(Script& script) {
  InProcess simulator(served());
  ServeOptions options;
  options.max_runs = 2;
  std::map<std::string, Message> heard;  // the last reply that each engine had
  Service::Time now{};
  Service service(
      simulator, options,
      [&](const std::string& engine, auto message) { heard[engine] = decode(message); },
      [&] { return now; });
  Rng rng(1);
  while (!script.ended()) {
    const std::uint8_t act = script.byte();
    const std::string engine = std::to_string(act % 3);
    heard.try_emplace(engine, Reset{});
    switch (act / 3 % 8) {
      case 4:
      case 5:
        service.take(engine, script.bytes(script.message(), act / 3 % 8 == 5));
        break;
      case 6:
        act / 24 % 2 == 0 ? service.leave(engine) : service.refuse(engine, "several frames");
        break;
      case 7:
        now += options.patience;
        break;
      default:
        service.take(engine, script.bytes(proper_answer(heard[engine], rng), false));
    }
    service.admit();
    demand(service.runs() <= options.max_runs && service.runs() + service.waiting() <= 3);
    demand(service.waiting() == 0 || service.runs() == options.max_runs);
  }
  for (const auto& [engine, _] : heard) service.leave(engine);
  demand(service.runs() == 0 && service.waiting() == 0);
}

// Answers every message, at first by the script, then well.
class Peer {
 public:
  explicit Peer(Script script) : script_(script), socket_(context_, zmq::socket_type::rep) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::rcvtimeo, 20);
    socket_.bind(endpoint_);
    thread_ = std::thread([this] { serve(); });
  }
  ~Peer() {
    stop_.store(true);
    thread_.join();
    std::remove(endpoint_.c_str() + 6);
  }
  std::string argument() const { return "ppx+" + endpoint_; }

 private:
  void serve() {
    zmq::message_t message;
    while (!stop_.load()) {
      if (!socket_.recv(message, zmq::recv_flags::none)) continue;
      const auto reply =
          reply_to(decode({static_cast<const std::byte*>(message.data()), message.size()}));
      socket_.send(zmq::buffer(reply.data(), reply.size()), zmq::send_flags::none);
    }
  }

  std::vector<std::byte> reply_to(const Message& message) {
    const std::uint8_t act = script_.byte() % 8;
    const bool greeting = std::holds_alternative<Handshake>(message);
    if (!script_.ended() && (act == 4 || act == 5)) {
      return script_.bytes(script_.message(), act == 5);
    }
    if (greeting) return script_.bytes(HandshakeResult{"peer", "peer"}, false);
    if (script_.ended() || act == 0) return script_.bytes(RunResult{Value(1.0)}, false);
    if (act == 1) return script_.bytes(Tag{"t", "t", Value(1.0)}, false);
    if (act == 2) return script_.bytes(Observe{"y", "y", Normal(0, 1), {}}, false);
    return script_.bytes(Sample{"x", "", Normal(0, 1)}, false);
  }

  Script script_;
  std::string endpoint_ = "ipc:///tmp/psn-fuzz-" + std::to_string(::getpid());
  std::atomic<bool> stop_{false};
  zmq::context_t context_;
  zmq::socket_t socket_;
  std::thread thread_;
};

// A simulator that lies: the engine counts failed runs, or gives up in words.
void play_simulator(Script& script) {
  const Peer peer(script);
  try {
    RemoteSimulator remote(peer.argument(), {.max_failures = 2, .start_limit = 20});
    EngineOptions options;
    options.samples = 4;
    options.keep_traces = true;
    const Posterior posterior = importance_sampling(remote, {{"y", Value(1.0)}}, options);
    demand(posterior.size() + remote.failures().runs == options.samples);
  } catch (const Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Script script(data, std::min<std::size_t>(size, 200));
  script.byte() % 8 == 1 ? play_simulator(script) : play_engines(script);
  return 0;
}
