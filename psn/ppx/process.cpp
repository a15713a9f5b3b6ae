#include "psn/ppx/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include "psn/base/error.h"
#include "psn/base/text.h"
#include "psn/ppx/command_words.h"

namespace psn::ppx {
namespace {

constexpr int kGraceMilliseconds = 1000;  // from SIGTERM to SIGKILL
constexpr std::size_t kTailBytes = 4096;
constexpr std::size_t kTailLines = 5;
constexpr std::size_t kLineBytes = 300;

// Between fork and exec: only calls that are safe in the child of a program with threads.
[[noreturn]] void become(char** argv, int output, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it ended before we asked
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execvp(argv[0], argv);
  const char* why = std::strerror(errno);
  for (const char* part : {"cannot run ", static_cast<const char*>(argv[0]), ": ", why, "\n"}) {
    if (::write(STDERR_FILENO, part, std::strlen(part)) < 0) break;
  }
  ::_exit(127);
}

void close_fd(int& fd) {
  if (fd >= 0) ::close(std::exchange(fd, -1));
}

}  // namespace

ProcessStarter::ProcessStarter() : thread_([this] { loop(); }) {}

ProcessStarter::~ProcessStarter() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ProcessStarter::call(const std::function<void()>& f) {
  const std::lock_guard one_at_a_time(callers_);
  std::unique_lock lock(mutex_);
  job_ = &f;
  changed_.notify_all();
  changed_.wait(lock, [&] { return !job_; });
}

void ProcessStarter::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return job_ || done_; });
    if (done_) return;
    (*job_)();
    job_ = nullptr;
    changed_.notify_all();
  }
}

Process::Process(ProcessStarter& starter, const std::string& command) {
  CommandWords words(command);
  std::array<int, 2> output{};
  if (::pipe2(output.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    throw DataError(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  output_fd_ = output[0];
  // The writer's end blocks, as programs expect of their output.
  ::fcntl(output[1], F_SETFL, 0);
  const pid_t parent = ::getpid();
  int error = 0;
  starter.call([&] {
    pid_ = ::fork();
    if (pid_ == 0) become(words.argv(), output[1], parent);
    if (pid_ > 0) {
      ::setpgid(pid_, pid_);  // the child does it too: whoever comes first
      exit_fd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
    }
    error = errno;
  });
  close_fd(output[1]);
  if (exit_fd_ < 0) {
    if (pid_ > 0) finish(true);
    close_fd(output_fd_);
    throw DataError(fmt::format("cannot start '{}': {}", command, std::strerror(error)));
  }
}

Process::~Process() {
  terminate();
  finish(false);
  close_fd(exit_fd_);
  close_fd(output_fd_);
}

bool Process::drain() {
  constexpr int kReads = 64;  // so that one who prints without end does not hold the others
  std::array<char, 4096> buffer;
  for (int i = 0; i < kReads; ++i) {
    const ssize_t got = ::read(output_fd_, buffer.data(), buffer.size());
    if (got <= 0) return got < 0;
    tail_.append(buffer.data(), static_cast<std::size_t>(got));
    if (tail_.size() > kTailBytes) tail_.erase(0, tail_.size() - kTailBytes);
  }
  return true;
}

// What a terminal would show: a carriage return begins a line anew.
std::string Process::last_lines() const {
  std::vector<std::string> lines;
  std::string_view rest = tail_;
  while (!rest.empty() && lines.size() < kTailLines) {
    if (rest.ends_with('\n')) rest.remove_suffix(1);
    std::string_view line = rest.substr(rest.rfind('\n') + 1);
    rest.remove_suffix(line.size());
    while (line.ends_with('\r')) line.remove_suffix(1);
    line.remove_prefix(line.rfind('\r') + 1);
    if (std::string shown = one_line(line, kLineBytes); !shown.empty()) {
      lines.push_back(std::move(shown));
    }
  }
  std::reverse(lines.begin(), lines.end());
  return fmt::format("{}", fmt::join(lines, " | "));
}

std::string Process::ending() const {
  // Not reaped here: until finish() its number, which is also the group's, stays its own.
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid == 0) {
    return "";
  }
  return fmt::format("{} {}", info.si_code == CLD_EXITED ? "exit code" : "killed by signal",
                     info.si_status);
}

void Process::wait() const {
  pollfd ended{exit_fd_, POLLIN, 0};
  ::poll(&ended, 1, kGraceMilliseconds);
}

void Process::terminate() {
  if (!finished_ && !std::exchange(asked_, true)) ::kill(-pid_, SIGTERM);
}

void Process::finish(bool at_once) {
  if (std::exchange(finished_, true)) return;
  if (!at_once) wait();
  // Also when it has ended by itself: others of its group may not have.
  ::kill(-pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  drain();
}

}  // namespace psn::ppx
