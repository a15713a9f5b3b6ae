// Process: a simulator that psn started itself. It leads a process group of its own, its output is
// kept to its last lines, and it never outlives its owner: not when this object is destroyed, and
// not when the whole program is killed.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace psn::ppx {

// The thread that starts processes. The kernel can end a child when the *thread* that made it
// ends, so one thread makes them all and stays.
class ProcessStarter {
 public:
  ProcessStarter();
  ~ProcessStarter();
  ProcessStarter(const ProcessStarter&) = delete;
  ProcessStarter& operator=(const ProcessStarter&) = delete;

  // Runs f on its thread and waits for it. Thread-safe.
  void call(const std::function<void()>& f);

 private:
  void loop();

  std::mutex callers_;  // one at a time
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* job_ = nullptr;
  bool done_ = false;
  std::thread thread_;
};

// Not thread-safe.
class Process {
 public:
  // `command` is split into words as a shell would do, but no shell runs. Throws InvalidArgument if
  // it cannot be split, DataError if no process can be made.
  Process(ProcessStarter& starter, const std::string& command);
  // Ends the whole group: see finish().
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Becomes readable when the process has ended.
  int exit_fd() const { return exit_fd_; }
  // Becomes readable when it has printed something; drain() takes some of it, and says whether more
  // may come.
  int output_fd() const { return output_fd_; }
  bool drain();
  // The end of what it printed, as one line; "" if nothing.
  std::string last_lines() const;
  // How it ended ("killed by signal 9", "exit code 3"); "" while it runs.
  std::string ending() const;
  // Waits a moment for it to end.
  void wait() const;

  // Asks it to end.
  void terminate();
  // Waits a moment for it to follow terminate(), then kills the group. `at_once`: kills first.
  void finish(bool at_once);

 private:
  pid_t pid_ = -1;
  int exit_fd_ = -1;
  int output_fd_ = -1;
  bool asked_ = false, finished_ = false;
  std::string tail_;
};

}  // namespace psn::ppx
