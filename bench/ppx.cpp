// A Gaussian of three variables in another process: four round trips a trace, beside a bare ZeroMQ
// ping-pong of the same message sizes in the same run.
//
//   build/bin/bench_ppx [seconds]
//
// Both sides of a ping-pong wake each other through the kernel, so figures depend on how many cores
// are free: compare ratios within a run.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "experiments/reference/reference.h"
#include "psn/infer/importance.h"
#include "psn/ppx/codec.h"
#include "psn/ppx/link.h"
#include "psn/ppx/remote.h"
#include "psn/ppx/server.h"

namespace psn::ppx {
namespace {

struct Exchange {
  Message request, reply;
};

// The conversation of one trace.
std::vector<Exchange> conversation() {
  const Distribution likelihood = Normal(1.5, 1.4142135623730951);
  return {{ppx::Run{}, Sample{"mu", "mu", Normal(1, 2.23606797749979), true}},
          {SampleResult{1.5}, Observe{"obs0", "obs0", likelihood, 8.0}},
          {ObserveResult{8.0}, Observe{"obs1", "obs1", likelihood, 9.0}},
          {ObserveResult{9.0}, RunResult{1.5}}};
}

std::string encoded(const Message& message) {
  Encoder encoder(ScalarShape::kOne);
  const auto bytes = encoder.encode(message);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The bare peer: answers by turns with messages of the right sizes.
[[noreturn]] void pong(const char* endpoint) {
  std::vector<std::string> replies;
  for (const Exchange& exchange : conversation()) replies.push_back(encoded(exchange.reply));
  zmq::context_t context(1);
  zmq::socket_t socket(context, zmq::socket_type::rep);
  socket.bind(endpoint);
  zmq::message_t message;
  for (std::size_t i = 0;; i = (i + 1) % replies.size()) {
    (void)socket.recv(message, zmq::recv_flags::none);
    socket.send(zmq::buffer(replies[i]), zmq::send_flags::none);
  }
}

double elapsed(Clock::time_point since) {
  return std::chrono::duration<double>(Clock::now() - since).count();
}

// Processor time of this process and of its children that have ended, in seconds.
double processor_time() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    ::getrusage(who, &used);
    for (const timeval& t : {used.ru_utime, used.ru_stime}) {
      sum += static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    }
  }
  return sum;
}

// Microseconds of processor time on both sides for each of what f() counts; on a busy machine they
// say more than the clock.
template <class F>
double processor_us(F f) {
  const double before = processor_time();
  const double count = f();
  return 1e6 * (processor_time() - before) / count;
}

// Round trips per second over `peers` bare ping-pongs.
double bare(std::size_t peers, double duration) {
  std::vector<std::string> requests;
  for (const Exchange& exchange : conversation()) requests.push_back(encoded(exchange.request));
  Nursery nursery;
  zmq::context_t context(1);
  std::vector<std::unique_ptr<Process>> processes;
  std::vector<zmq::socket_t> sockets;
  std::vector<zmq::pollitem_t> items;
  for (std::size_t p = 0; p < peers; ++p) {
    const std::string endpoint =
        fmt::format("ipc://{}/psn-bench-{}-{}-{}", std::filesystem::temp_directory_path().string(),
                    ::getpid(), peers, p);
    processes.push_back(std::make_unique<Process>(
        nursery, fmt::format("/proc/{}/exe pong {}", ::getpid(), endpoint)));
    sockets.emplace_back(context, zmq::socket_type::req).set(zmq::sockopt::linger, 0);
    sockets.back().connect(endpoint);
    items.push_back({sockets.back().handle(), 0, ZMQ_POLLIN, 0});
  }
  zmq::message_t message;
  for (auto& socket : sockets) {  // until all have started
    for (const std::string& request : requests) {
      socket.send(zmq::buffer(request), zmq::send_flags::none);
      (void)socket.recv(message, zmq::recv_flags::none);
    }
  }
  std::uint64_t trips = 0;
  std::vector<std::size_t> turn(peers, 0);
  const auto start = Clock::now();
  if (peers == 1) {
    for (; elapsed(start) < duration; ++trips) {
      sockets[0].send(zmq::buffer(requests[trips % requests.size()]), zmq::send_flags::none);
      (void)sockets[0].recv(message, zmq::recv_flags::none);
    }
  } else {
    for (auto& socket : sockets) socket.send(zmq::buffer(requests[0]), zmq::send_flags::none);
    while (elapsed(start) < duration) {
      zmq::poll(items);
      for (std::size_t p = 0; p < peers; ++p) {
        if (!items[p].revents || !sockets[p].recv(message, zmq::recv_flags::dontwait)) continue;
        turn[p] = (turn[p] + 1) % requests.size();
        sockets[p].send(zmq::buffer(requests[turn[p]]), zmq::send_flags::none);
        ++trips;
      }
    }
  }
  return static_cast<double>(trips) / elapsed(start);
}

// Traces per second.
double remote(std::size_t workers, double duration) {
  RemoteSimulator simulator(fmt::format("exec:/proc/{}/exe serve {{endpoint}}", ::getpid()),
                            {.workers = workers});
  EngineOptions options;
  options.samples = 4 * workers;
  options.queries = {{"mu"}};
  importance_sampling(simulator, {}, options);  // until all have started
  options.samples = 200;
  std::uint64_t traces = 0;
  const auto start = Clock::now();
  for (; elapsed(start) < duration; traces += options.samples) {
    importance_sampling(simulator, {}, options);
  }
  return static_cast<double>(traces) / elapsed(start);
}

// Seconds to write and read all messages of a trace, both sides' together.
double codec() {
  constexpr int kRounds = 20'000;
  const auto messages = conversation();
  Encoder encoder(ScalarShape::kOne);
  std::size_t kinds = 0;
  const auto start = Clock::now();
  for (int i = 0; i < kRounds; ++i) {
    for (const Exchange& exchange : messages) {
      kinds += decode(encoder.encode(exchange.request)).index();
      kinds += decode(encoder.encode(exchange.reply)).index();
    }
  }
  return kinds > 0 ? elapsed(start) / kRounds : 0;
}

void compare(double duration) {
  // By turns, so that both meet the same other load.
  double bare_trips = 0, our_traces = 0;
  constexpr int kTurns = 3;
  for (int i = 0; i < kTurns; ++i) {
    bare_trips += bare(1, duration / kTurns) / kTurns;
    our_traces += remote(1, duration / kTurns) / kTurns;
  }
  const double bare_us = 1e6 / bare_trips, our_us = 1e6 / our_traces / 4;
  fmt::print(
      "one worker: bare round trip {:.1f} us, ours {:.1f} us ({:.2f} times), {:.0f} traces/s\n",
      bare_us, our_us, our_us / bare_us, our_traces);
  const double codec_us = codec() * 1e6 / 4;
  fmt::print("processor time of a round trip, both sides: bare {:.1f} us, ours {:.1f} us\n",
             processor_us([&] { return bare(1, duration) * duration; }),
             processor_us([&] { return 4 * remote(1, duration) * duration; }));
  fmt::print("of ours: codec, both sides {:.1f} us; the rest beyond the bare one {:.1f} us\n",
             codec_us, our_us - bare_us - codec_us);
  const double bare_four = bare(4, duration), our_four = remote(4, duration);
  fmt::print("four workers: bare {:.0f} x 4 round trips/s, ours {:.0f} traces/s ({:.2f} of bare)\n",
             bare_four / 4, our_four, our_four / (bare_four / 4));
}

}  // namespace
}  // namespace psn::ppx

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "3";
  if (mode == "pong" && argc > 2) psn::ppx::pong(argv[2]);
  if (mode == "serve") {
    return psn::ppx::serve_main(psn::reference::gaussian(), argc - 1, argv + 1);
  }
  psn::ppx::compare(std::atof(mode.c_str()));
}
