// A Gaussian of three variables in another process, four round trips a trace, beside a bare ZeroMQ
// ping-pong of the same message sizes in the same run; with one peer and with four. Then what the
// parts cost: the codec, and the engine with the program in one process.
//
//   build/bin/bench_ppx [seconds for each]
//
// Both sides of a ping-pong wake each other through the kernel, so the clock depends on how many
// cores are free: compare ratios within a run.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "experiments/reference/reference.h"
#include "psn/core/in_process.h"
#include "psn/infer/importance.h"
#include "psn/ppx/codec.h"
#include "psn/ppx/link.h"
#include "psn/ppx/remote.h"
#include "psn/ppx/server.h"

namespace psn::ppx {
namespace {

constexpr std::uint64_t kTripsPerTrace = 4;

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

double processor_time(clockid_t clock) {
  timespec t{};
  ::clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Of all processes that this one has started and that still run.
double children_time() {
  double sum = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream in(task.path() / "children");
    for (pid_t pid = 0; in >> pid;) {
      clockid_t clock{};
      if (::clock_getcpuclockid(pid, &clock) == 0) sum += processor_time(clock);
    }
  }
  return sum;
}

// What round trips cost. On a busy machine processor time says more than the clock.
struct Cost {
  double trips = 0, seconds = 0;
  double engine_time = 0, peer_time = 0;  // of processors, in seconds

  Cost& operator+=(const Cost& other) {
    trips += other.trips;
    seconds += other.seconds;
    engine_time += other.engine_time;
    peer_time += other.peer_time;
    return *this;
  }
  double us(double total) const { return 1e6 * total / trips; }
  double traces_per_second() const { return trips / kTripsPerTrace / seconds; }
};

// Calls f, which makes some round trips and says how many, for so long.
template <class F>
Cost measure(double duration, F f) {
  Cost cost;
  const double engine = processor_time(CLOCK_PROCESS_CPUTIME_ID), peer = children_time();
  const auto start = Clock::now();
  while (elapsed(start) < duration) cost.trips += static_cast<double>(f());
  cost.seconds = elapsed(start);
  cost.engine_time = processor_time(CLOCK_PROCESS_CPUTIME_ID) - engine;
  cost.peer_time = children_time() - peer;
  return cost;
}

// Bare ping-pongs with so many peers.
Cost bare(std::size_t peers, double duration) {
  std::vector<std::string> requests;
  for (const Exchange& exchange : conversation()) requests.push_back(encoded(exchange.request));
  ProcessStarter starter;
  zmq::context_t context(1);
  std::vector<std::unique_ptr<Process>> processes;
  std::vector<zmq::socket_t> sockets;
  std::vector<zmq::pollitem_t> items;
  for (std::size_t p = 0; p < peers; ++p) {
    const std::string endpoint =
        fmt::format("ipc://{}/psn-bench-{}-{}-{}", std::filesystem::temp_directory_path().string(),
                    ::getpid(), peers, p);
    processes.push_back(std::make_unique<Process>(
        starter, fmt::format("/proc/{}/exe pong {}", ::getpid(), endpoint)));
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
  if (peers == 1) {
    return measure(duration, [&] {
      for (const std::string& request : requests) {
        sockets[0].send(zmq::buffer(request), zmq::send_flags::none);
        (void)sockets[0].recv(message, zmq::recv_flags::none);
      }
      return requests.size();
    });
  }
  std::vector<std::size_t> turn(peers, 0);
  for (auto& socket : sockets) socket.send(zmq::buffer(requests[0]), zmq::send_flags::none);
  return measure(duration, [&] {
    std::size_t trips = 0;
    zmq::poll(items);
    for (std::size_t p = 0; p < peers; ++p) {
      if (!items[p].revents || !sockets[p].recv(message, zmq::recv_flags::dontwait)) continue;
      turn[p] = (turn[p] + 1) % requests.size();
      sockets[p].send(zmq::buffer(requests[turn[p]]), zmq::send_flags::none);
      ++trips;
    }
    return trips;
  });
}

Cost remote(std::size_t workers, double duration) {
  RemoteSimulator simulator(fmt::format("exec:/proc/{}/exe serve {{endpoint}}", ::getpid()),
                            {.workers = workers});
  EngineOptions options;
  options.samples = 100 * workers;
  options.queries = {{"mu"}};
  importance_sampling(simulator, {}, options);  // until all have started
  return measure(duration, [&] {
    importance_sampling(simulator, {}, options);
    return kTripsPerTrace * options.samples;
  });
}

// To write and read all messages of a trace, both sides together.
Cost codec(double duration) {
  const auto messages = conversation();
  Encoder encoder(ScalarShape::kOne);
  return measure(duration, [&] {
    for (const Exchange& exchange : messages) {
      decode(encoder.encode(exchange.request));
      decode(encoder.encode(exchange.reply));
    }
    return messages.size();
  });
}

// The same program without another process.
Cost in_process(double duration) {
  InProcess simulator(reference::gaussian());
  EngineOptions options;
  options.samples = 1'000;
  options.queries = {{"mu"}};
  options.parallelism = {.width = 1, .threads = 1};
  return measure(duration, [&] {
    importance_sampling(simulator, {}, options);
    return kTripsPerTrace * options.samples;
  });
}

void print(const std::string& what, const Cost& cost) {
  fmt::print("{:24}{:10.1f}{:12.1f}{:12.1f}{:12.0f}\n", what, cost.us(cost.seconds),
             cost.us(cost.engine_time), cost.us(cost.peer_time), cost.traces_per_second());
}

void compare(std::size_t workers, double duration) {
  // By turns, so that both meet the same other load.
  constexpr int kTurns = 6;
  Cost plain, ours;
  for (int i = 0; i < kTurns; ++i) {
    plain += bare(workers, duration / kTurns);
    ours += remote(workers, duration / kTurns);
  }
  print(fmt::format("bare ZeroMQ, {} peers", workers), plain);
  print(fmt::format("psn, {} workers", workers), ours);
  fmt::print("{:24}{:10.2f}{:12.2f}{:12.2f}\n", "  times the bare one",
             ours.us(ours.seconds) / plain.us(plain.seconds),
             ours.us(ours.engine_time) / plain.us(plain.engine_time),
             ours.us(ours.peer_time) / plain.us(plain.peer_time));
}

void report(double duration) {
  fmt::print("{:24}{:>10}{:>12}{:>12}{:>12}\n", "us a round trip", "clock", "engine CPU",
             "peer CPU", "traces/s");
  compare(1, duration);
  compare(4, duration);
  print("codec, both sides", codec(duration / 10));
  print("engine and program alone", in_process(duration / 10));
}

}  // namespace
}  // namespace psn::ppx

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "3";
  if (mode == "pong" && argc > 2) psn::ppx::pong(argv[2]);
  if (mode == "serve") {
    return psn::ppx::serve_main(psn::reference::gaussian(), argc - 1, argv + 1);
  }
  psn::ppx::report(std::atof(mode.c_str()));
}
