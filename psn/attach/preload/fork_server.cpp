#include "psn/attach/preload/fork_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "psn/attach/preload/channel.h"
#include "psn/attach/preload/limits.h"

namespace psn::preload {
namespace {

constexpr std::size_t kMostRuns = 1024;

struct Run {
  std::uint64_t number;
  pid_t pid;
};
// poll() wants descriptors side by side: [0] is the engine's socket, [i + 1] that of run i.
Run runs[kMostRuns];
pollfd watched[kMostRuns + 1];
std::size_t run_count = 0;
Packet packet;

void kill_group(pid_t pid) {
  ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);  // it may not lead its group yet
}

[[noreturn]] void end_all() {
  for (std::size_t i = 0; i < run_count; ++i) kill_group(runs[i].pid);
  ::_exit(0);
}

void tell(int engine, wire::Kind kind, std::uint64_t run, int code) {
  wire::Head head;
  head.kind = kind;
  head.run = run;
  head.code = code;
  if (!send_packet(engine, head, nullptr, nullptr)) end_all();
}

void close_descriptors() {
  for (std::size_t i = 0; i < packet.descriptor_count; ++i) ::close(packet.descriptors[i]);
}

// In a copy: gives it the socket, the output and the folder that came with the packet. One that
// cannot be made what it should be ends, and the engine hears of it.
int become_run(const Packet& from) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(from.descriptors[1], STDOUT_FILENO);
  ::dup2(from.descriptors[2], STDERR_FILENO);
  ::close(from.descriptors[1]);
  ::close(from.descriptors[2]);
  char folder[wire::kMostText + 1];
  std::memcpy(folder, from.text(), from.head.text);
  folder[from.head.text] = '\0';
  if (!reopen_files() || ::chdir(folder) != 0) {
    std::fprintf(stderr, "psn: cannot enter %s, or open files again\n", folder);
    ::_exit(1);
  }
  return from.descriptors[0];
}

int become_first(int engine, pid_t server) {
  const int socket = become_run(packet);
  if (::getppid() != server) ::_exit(1);
  ::close(engine);
  for (std::size_t i = 0; i < run_count; ++i) ::close(watched[i + 1].fd);
  return socket;
}

void watch_over(std::uint64_t run, pid_t pid) {
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  runs[run_count] = {run, pid};
  watched[++run_count] = {fd, POLLIN, 0};
}

// The socket of the run, in the copy; -1 in the server.
int make_copy(int engine) {
  const std::uint64_t run = packet.head.run;
  if (packet.descriptor_count != wire::kDescriptors || run_count == kMostRuns) {
    close_descriptors();
    tell(engine, wire::Kind::kForked, run, -EAGAIN);
    return -1;
  }
  const pid_t server = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) return become_first(engine, server);
  const int error = errno;
  close_descriptors();
  if (pid > 0) {
    ::setpgid(pid, pid);
    watch_over(run, pid);
  }
  tell(engine, wire::Kind::kForked, run, pid > 0 ? pid : -error);
  return -1;
}

// A copy of a run, whose parent has ended.
void adopt(int engine) {
  siginfo_t nothing;
  const int pid = packet.head.code;
  const bool ours = pid > 0 && ::waitid(P_PID, static_cast<id_t>(pid), &nothing,
                                        WEXITED | WNOHANG | WNOWAIT) == 0;
  if (ours && run_count < kMostRuns) return watch_over(packet.head.run, pid);
  tell(engine, wire::Kind::kEnded, packet.head.run, SIGKILL);
}

void bury(int engine, std::size_t i) {
  kill_group(runs[i].pid);  // others of its group may still be there
  int status = 0;
  while (::waitpid(runs[i].pid, &status, 0) < 0 && errno == EINTR) continue;
  const std::uint64_t number = runs[i].number;
  ::close(watched[i + 1].fd);
  runs[i] = runs[run_count - 1];
  watched[i + 1] = watched[run_count];
  --run_count;
  tell(engine, wire::Kind::kEnded, number, status);
}

}  // namespace

int serve(int engine) {
  wire::Head ready;
  ready.run = static_cast<std::uint64_t>(::getpid());
  char limits[256];
  ready.text = static_cast<std::uint32_t>(find_limits(engine, {}, limits, sizeof(limits)));
  if (!send_packet(engine, ready, nullptr, limits)) ::_exit(0);
  watched[0] = {engine, POLLIN, 0};
  for (;;) {
    if (::poll(watched, run_count + 1, -1) < 0) {
      if (errno == EINTR) continue;
      end_all();
    }
    for (std::size_t i = run_count; i-- > 0;) {
      if (watched[i + 1].revents != 0) bury(engine, i);
    }
    if (watched[0].revents == 0) continue;
    if (!receive_packet(engine, packet)) end_all();
    if (packet.head.kind == wire::Kind::kGo) return engine;
    if (packet.head.kind == wire::Kind::kFork) {
      // From here on the end of the engine is seen by its socket, and copies are ended first.
      ::prctl(PR_SET_PDEATHSIG, 0);
      ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // of copies of runs
      if (const int socket = make_copy(engine); socket >= 0) return socket;
    }
    if (packet.head.kind == wire::Kind::kAdopt) adopt(engine);
    if (packet.head.kind != wire::Kind::kKill) continue;
    for (std::size_t i = 0; i < run_count; ++i) {
      if (runs[i].number == packet.head.run) kill_group(runs[i].pid);
    }
  }
}

// A child's child, whose parent ends at once, so that the server gets it: the program never meets
// a child that it has not made.
int copy_run(const Packet& from, int socket, int& pid) {
  char limits[256];
  int answer[2];
  pid = -EAGAIN;
  if (from.descriptor_count != wire::kDescriptors) return -1;
  if (find_limits(socket, from.descriptors, limits, sizeof(limits)) == 0 &&
      ::pipe2(answer, O_CLOEXEC) == 0) {
    const pid_t between = ::fork();
    if (between == 0) {
      const pid_t parent = ::getpid();
      const pid_t copy = ::fork();
      if (copy == 0) {
        while (::getppid() == parent) ::usleep(50);  // whose end would be ours
        for (const int fd : {answer[0], answer[1], socket}) ::close(fd);
        return become_run(from);
      }
      pid = copy > 0 ? copy : -errno;
      if (copy > 0) ::setpgid(copy, copy);  // before the end of the run, which ends its group
      ::_exit(::write(answer[1], &pid, sizeof(pid)) == sizeof(pid) ? 0 : 1);
    }
    if (between > 0) {
      while (::waitpid(between, nullptr, 0) < 0 && errno == EINTR) continue;
      ::close(answer[1]);
      if (::read(answer[0], &pid, sizeof(pid)) != sizeof(pid)) pid = -EAGAIN;
    } else {
      ::close(answer[1]);
    }
    ::close(answer[0]);
  }
  for (const int fd : from.descriptors) ::close(fd);
  return -1;
}

}  // namespace psn::preload
