// Link: the engine's connection to one simulator, and, if psn started it, the process. It goes up
// and down; whoever holds it decides when.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "psn/ppx/codec.h"
#include "psn/ppx/process.h"
#include "psn/ppx/remote.h"

namespace psn::ppx {

using Clock = std::chrono::steady_clock;

inline Clock::duration seconds(double s) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
}

// What all links of a pool share. Thread-safe where it has to be: only the nursery is.
struct LinkContext {
  zmq::context_t zmq;
  Nursery nursery;
  const RemoteOptions& options;
};

// Not thread-safe.
class Link {
 public:
  enum class State {
    kDown,      // until reopen_at()
    kGreeting,  // open, the handshake is under way
    kUp,
    kLost,  // could not be opened several times in a row: given up
  };

  // `endpoint` is where the simulator serves. With a command, it is the beginning of paths to serve
  // at, one for each process in turn.
  Link(LinkContext& context, std::string endpoint, std::string command);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  State state() const { return state_; }
  const std::string& endpoint() const { return endpoint_; }
  const HandshakeResult& peer() const { return peer_; }
  bool peer_is_psn() const { return peer_.system_name.starts_with("psn "); }
  const std::string& problem() const { return problem_; }  // of the last start that failed

  // What is to be done by now: opens the link when its pause is over, gives a start up when it
  // takes too long.
  void tend(Clock::time_point now);
  // The peer's answer to the handshake; anything else fails the start.
  void greeted(const Message& answer);
  void fail_start(const std::string& problem);
  // Breaks the connection off and, if it is ours, kills the process. The link goes up again later.
  void fail_run();
  // The same, but nobody's fault: lets the process end by itself if it does so quickly.
  void abandon_run();
  void run_finished() { failures_ = 0; }

  void send(const Message& message);
  // A message if one has come; throws ProtocolError for one that is none.
  std::optional<Message> receive();

  // For polling: items of this link, a fixed number while it is open.
  void add_items(std::vector<zmq::pollitem_t>& items);
  struct Signals {
    bool message = false;
    bool died = false;  // the process has ended or the connection is gone
  };
  Signals signals(const zmq::pollitem_t* items);
  std::size_t item_count() const { return items_; }
  std::uint64_t generation() const { return generation_; }  // grows when the items change

  std::string ending() const;      // of the process or connection
  std::string last_lines() const;  // of the process's output

  // Asks the process to end; abandon_run() and the destructor wait for that.
  void terminate();

 private:
  void open();
  void close(bool at_once = true);
  void pause();

  LinkContext& context_;
  std::string endpoint_, command_;
  State state_ = State::kDown;
  Clock::time_point reopen_at_ = Clock::now();
  Clock::time_point start_deadline_;
  int failures_ = 0;       // in a row
  int failed_starts_ = 0;  // in a row
  int processes_ = 0;      // started so far
  std::string problem_;
  std::string output_;  // last lines of the process that was closed last
  std::string ending_;
  HandshakeResult peer_;
  Encoder encoder_{ScalarShape::kOne};

  std::unique_ptr<Process> process_;
  std::optional<zmq::socket_t> socket_;
  std::optional<zmq::socket_t> monitor_;  // tells of lost connections to simulators not ours
  std::size_t items_ = 0;
  std::uint64_t generation_ = 0;
};

}  // namespace psn::ppx
