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

// In the copy. A copy that cannot be made what it should be ends, and the engine hears of it.
int become_run(int engine, pid_t server) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != server) ::_exit(1);
  const int socket = packet.descriptors[0];
  ::dup2(packet.descriptors[1], STDOUT_FILENO);
  ::dup2(packet.descriptors[2], STDERR_FILENO);
  ::close(packet.descriptors[1]);
  ::close(packet.descriptors[2]);
  ::close(engine);
  for (std::size_t i = 0; i < run_count; ++i) ::close(watched[i + 1].fd);
  char folder[wire::kMostText + 1];
  std::memcpy(folder, packet.text(), packet.head.text);
  folder[packet.head.text] = '\0';
  if (!reopen_files() || ::chdir(folder) != 0) {
    std::fprintf(stderr, "psn: cannot enter %s, or open files again\n", folder);
    ::_exit(1);
  }
  return socket;
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
  if (pid == 0) return become_run(engine, server);
  const int error = errno;
  close_descriptors();
  if (pid > 0) {
    ::setpgid(pid, pid);
    const int fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
    runs[run_count] = {run, pid};
    watched[++run_count] = {fd, POLLIN, 0};
  }
  tell(engine, wire::Kind::kForked, run, pid > 0 ? pid : -error);
  return -1;
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
  ready.text = static_cast<std::uint32_t>(find_limits(engine, limits, sizeof(limits)));
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
      if (const int socket = make_copy(engine); socket >= 0) return socket;
    }
    if (packet.head.kind != wire::Kind::kKill) continue;
    for (std::size_t i = 0; i < run_count; ++i) {
      if (runs[i].number == packet.head.run) kill_group(runs[i].pid);
    }
  }
}

}  // namespace psn::preload
