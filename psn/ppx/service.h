// Service: a simulator and the engines that use it, without the sockets between them. A run belongs
// to the engine that began it; engines that ask for one when no more can be under way wait.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "psn/ppx/codec.h"
#include "psn/ppx/served_run.h"
#include "psn/ppx/server.h"

namespace psn::ppx {

// Not thread-safe.
class Service {
 public:
  using Engine = std::string;  // whatever tells it apart
  using Time = std::chrono::steady_clock::time_point;
  using Send = std::function<void(const Engine& engine, std::span<const std::byte> message)>;
  using Clock = std::function<Time()>;

  Service(Simulator& simulator, const ServeOptions& options, Send send,
          Clock clock = std::chrono::steady_clock::now);

  // Whatever an engine sends. It is answered at once or, if it has to wait for a run, later; what
  // is no message, fits no request or fails in the simulator ends the engine's run with a Reset.
  // False if that was the engine's fault.
  bool take(const Engine& engine, std::span<const std::byte> message);
  // For what cannot be taken as a message at all. The log tells of runs that end so, and of the
  // first few messages that end none.
  void refuse(const Engine& engine, const std::string& why);
  // The engine has gone: nobody will end its run.
  void leave(const Engine& engine);
  // Lets engines that wait begin, as far as there is room. A run whose engine has been silent for
  // the options' patience makes room.
  void admit();

  std::size_t runs() const { return runs_.size(); }        // under way
  std::size_t waiting() const { return waiting_.size(); }  // for one

 private:
  struct Current {
    ServedRun run;
    Time asked;  // when its engine was last asked something
  };

  Message reply(const Engine& engine, const Message& message);
  void begin(const Engine& engine);
  void make_room();
  void send(const Engine& engine, const Message& message);
  void forget(const Engine& engine);
  void log(const std::string& line);

  Simulator& simulator_;
  const ServeOptions& options_;
  const Send send_;
  const Clock clock_;
  const std::size_t max_runs_;
  std::map<Engine, Current> runs_;
  std::deque<Engine> waiting_;  // each once
  std::vector<std::unique_ptr<Ensemble>> idle_;
  std::uint64_t begun_ = 0;
  int complaints_ = 0;  // about messages that ended no run
  Encoder encoder_{ScalarShape::kNone};
};

}  // namespace psn::ppx
