// Runs: of one program, by copies of a process that waits before its first random choice, or where
// it cannot be copied, each by a start of its own.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "psn/attach/launch.h"
#include "psn/attach/packets.h"
#include "psn/attach/settings.h"
#include "psn/attach/workspace.h"

namespace psn::attach {

// What has happened to a run.
struct Event {
  enum class What {
    kDraw,   // it waits for an answer
    kEnded,  // by itself; its results are there until it is released
    kFailed,
  };
  std::uint64_t run = 0;
  What what = What::kDraw;
  Packet packet;              // of kDraw
  int exit_code = 0;          // of kEnded
  std::string cause, detail;  // of kFailed
};

// Not thread-safe.
class Runs {
 public:
  Runs(const std::string& command, const Settings& settings, double start_limit);
  ~Runs();
  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;

  // Starts the program, if it is not there. Throws ModelError if it does not come to a random
  // choice.
  void prepare();
  // Why every run is a start of its own; "" if they are copies.
  const std::string& limits() const { return limits_; }
  // Files of code that the program had loaded before its first choice, by their names.
  const std::map<std::string, std::string>& modules() const { return modules_; }
  // How often the program has been started.
  std::uint64_t starts() const { return starts_; }

  // Begins a run and returns its number.
  std::uint64_t begin();
  // A copy of a run that waits for an answer; so does the copy. None: it cannot be copied.
  std::optional<std::uint64_t> copy(std::uint64_t run);
  void answer(std::uint64_t run, std::span<const double> values);
  // Ends it; nothing more is heard of it.
  void abandon(std::uint64_t run);
  // Of a run that has ended: what it printed, the folder it worked in.
  std::string printed(std::uint64_t run) const;
  const std::string& folder(std::uint64_t run) const;
  void release(std::uint64_t run);
  // More than anybody wants to keep in memory.
  bool prints_too_much(std::uint64_t run) const;

  // What has happened, after waiting so long for something.
  std::vector<Event> wait(int milliseconds);

 private:
  struct Seat {
    enum class State { kFree, kRunning, kEnding, kEnded };
    State state = State::kFree;
    std::uint64_t run = 0;
    bool asks = false;  // and has no answer yet
    Descriptor socket;  // closed once the program's end is
    Descriptor out, err;
    std::string folder;
    Child child;  // of a fresh start
  };

  void start_server();
  void stop_server();
  void meet_server();
  Seat& take_seat();
  bool ask_for_copy(Seat& original, const Seat& copy, int socket);
  Seat* seat_of(std::uint64_t run);
  const Seat& seat(std::uint64_t run) const;
  void hear(Seat& seat, std::vector<Event>& events);
  void hear_server(std::vector<Event>& events);
  void ended(Seat& seat, int status, std::vector<Event>& events);
  void fail(Seat& seat, const std::string& cause, const std::string& detail,
            std::vector<Event>& events);
  void kill(Seat& seat);
  static std::string last_words(const Descriptor& file);

  const ppx::CommandWords words_;
  const std::string command_;
  const Settings& settings_;
  const double start_limit_;
  ppx::ProcessStarter starter_;
  Workspace workspace_;
  std::vector<std::unique_ptr<Seat>> seats_;
  std::uint64_t next_run_ = 1;
  std::uint64_t starts_ = 0;
  std::string limits_;
  std::map<std::string, std::string> modules_;
  bool prepared_ = false;

  // The process that is copied: none with limits.
  Child server_;
  Descriptor control_;
  Descriptor server_out_, server_err_;
  std::string server_folder_;
  std::string printed_before_;  // by it, before it was copied
};

}  // namespace psn::attach
