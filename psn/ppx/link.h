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
#include "psn/ppx/private_directory.h"
#include "psn/ppx/process.h"
#include "psn/ppx/remote.h"
#include "psn/ppx/socket.h"

namespace psn::ppx {

using Clock = std::chrono::steady_clock;

inline Clock::duration seconds(double s) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
}

// What all links of a pool share.
struct LinkContext {
  zmq::context_t zmq;
  ProcessStarter starter;
  Poller poller;  // its keys say which link, and what
  const RemoteOptions& options;
};

// In a command: the address, or just the port, at which the process is to serve.
inline constexpr std::string_view kEndpointPlace = "{endpoint}", kPortPlace = "{port}";

// What can be ready at a link; messages come first.
enum class Signal : std::uint64_t { kMessage, kOutput, kEnd, kConnection };
inline constexpr std::uint64_t kSignals = 4;

// Not thread-safe.
class Link {
 public:
  enum class State {
    kDown,      // until reopen_at()
    kGreeting,  // open, the handshake is under way
    kUp,
    kLost,  // could not be opened several times in a row: given up
  };

  // `peer` is where a simulator serves, or, if it is `own`, the command that starts one. The
  // context's poller tells `number` * kSignals + Signal.
  Link(LinkContext& context, std::uint64_t number, std::string peer, bool own);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  State state() const { return state_; }
  bool is_open() const { return socket_.has_value(); }
  bool was_reached() const { return reached_; }  // a ZeroMQ peer has ever been there
  const std::string& peer() const { return peer_; }
  const HandshakeResult& greeting() const { return greeting_; }
  bool peer_is_psn() const { return greeting_.system_name.starts_with("psn "); }
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
  bool is_expecting() const { return expecting_; }  // an answer to it
  // An answer may be there already, without a signal: to be asked after sending, before waiting.
  bool must_look() const { return must_look_; }
  // The answer to what was sent last, if it has come; throws ProtocolError for one that is none.
  // Answers to earlier messages, such as a second one to the same, are not looked at.
  std::optional<Message> receive();

  // Takes what has been printed.
  void drain();
  // Has the process ended, or is the connection gone? For a signal that may say so.
  bool is_dead();

  std::string ending() const;      // of the process or connection, once it is dead
  std::string last_words() const;  // "; its last output: ..." of the process, or ""

  // Asks the process to end; abandon_run() and the destructor wait for that.
  void terminate();

 private:
  void open();
  std::string start_process();
  void close(bool at_once = true);
  void pause();
  bool is_answer(const std::vector<zmq::message_t>& frames) const;
  void watch(int fd, Signal signal);
  void unwatch(int fd);

  LinkContext& context_;
  const std::uint64_t number_;
  const std::string peer_;
  const bool own_;
  State state_ = State::kDown;
  Clock::time_point reopen_at_ = Clock::now();
  Clock::time_point start_deadline_;
  int failures_ = 0;       // in a row
  int failed_starts_ = 0;  // in a row
  bool reached_ = false, met_ = false;
  std::string problem_;
  std::string output_;  // last lines of the process that was closed last
  std::string ending_;
  HandshakeResult greeting_;
  Encoder encoder_{ScalarShape::kOne};

  std::unique_ptr<PrivateDirectory> directory_;  // of the socket's file, until both have met
  std::unique_ptr<Process> process_;
  std::optional<zmq::socket_t> socket_;
  std::optional<zmq::socket_t> monitor_;  // tells of the connection
  std::vector<int> watched_;
  std::vector<zmq::message_t> frames_;
  std::uint64_t request_ = 0;  // number of the last message; the peer's answer bears it too
  int strays_ = 0;             // that have come instead of the answer
  bool expecting_ = false;     // an answer
  bool must_look_ = false;
  bool undelivered_ = false;
};

}  // namespace psn::ppx
