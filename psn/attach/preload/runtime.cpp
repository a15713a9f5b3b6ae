#include "psn/attach/preload/runtime.h"

#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "psn/attach/preload/call_site.h"
#include "psn/attach/preload/channel.h"
#include "psn/attach/preload/fork_server.h"

namespace psn::preload {
namespace {

int engine = -1;  // its socket, of this process or of the run
int depth = 4;    // of the stack, in an address
bool claimed = false;
bool copying = false;   // fork() is our own
bool is_child = false;  // of a run: made by the program itself
pid_t drawing_thread = 0;
Packet answer;

pid_t thread_id() {
  return static_cast<pid_t>(::syscall(SYS_gettid));
}

void in_child() {
  if (claimed && !copying) is_child = true;
}

// Runs before main(). The socket is whatever the variable names, if it is one.
__attribute__((constructor)) void look_for_engine() {
  const char* words = std::getenv(wire::kVariable);
  int fd = -1, frames = 0;
  if (!words || std::sscanf(words, "%d %d", &fd, &frames) != 2 || fd < 0) return;
  int type = 0;
  socklen_t size = sizeof(type);
  if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET) return;
  engine = fd;
  depth = frames;
}

// The first random choice: this process is the program, and none that it starts is.
void claim() {
  claimed = true;
  ::unsetenv(wire::kVariable);
  ::fcntl(engine, F_SETFD, FD_CLOEXEC);
  void* warm[2];
  ::backtrace(warm, 2);  // loads what it needs, once for all copies
  ::pthread_atfork(nullptr, nullptr, in_child);
  copying = true;
  engine = serve(engine);
  copying = false;
  drawing_thread = thread_id();
}

void expect_one_thread() {
  if (is_child) refuse("it forks, and draws random numbers in the child as well");
  if (thread_id() != drawing_thread) {
    refuse(
        "it draws random numbers in several threads, whose order nobody decides; run it with one");
  }
}

// Nobody wants to know the result, of whatever the program has started.
[[noreturn]] void leave() {
  ::kill(0, SIGKILL);
  ::_exit(1);
}

}  // namespace

bool active() {
  return engine >= 0;
}

void refuse(const char* why) {
  wire::Head head;
  head.kind = wire::Kind::kRefuse;
  head.text = static_cast<std::uint32_t>(std::strlen(why));
  send_packet(engine, head, nullptr, why);
  leave();
}

namespace {

// Of this run, which waits for an answer; the copy waits for one as well.
void copy() {
  wire::Head head;
  head.kind = wire::Kind::kForked;
  head.run = answer.head.run;
  copying = true;
  const int socket = copy_run(answer, engine, head.code);
  copying = false;
  if (socket < 0) {
    if (!send_packet(engine, head, nullptr, nullptr)) leave();
    return;
  }
  engine = socket;
  drawing_thread = thread_id();
}

void ask(Family family, const double* parameters, std::size_t n, double* out, std::size_t count) {
  const int before = errno;
  if (!claimed) claim();
  expect_one_thread();
  char address[wire::kMostText];
  wire::Head head;
  head.kind = wire::Kind::kDraw;
  head.code = family;
  head.count = static_cast<std::uint32_t>(count);
  head.numbers = static_cast<std::uint32_t>(n);
  head.text = static_cast<std::uint32_t>(call_site(depth, address, sizeof(address)));
  if (n > wire::kMostNumbers || count > wire::kMostNumbers) refuse("it draws too much at once");
  if (!send_packet(engine, head, parameters, address)) leave();
  const std::size_t expected = count == 0 ? 1 : count;
  bool open = receive_packet(engine, answer);
  while (open && answer.head.kind == wire::Kind::kCopy) {
    copy();
    open = receive_packet(engine, answer);
  }
  if (!open || answer.head.kind != wire::Kind::kValues || answer.head.numbers != expected) {
    leave();
  }
  std::memcpy(out, answer.numbers(), 8 * expected);
  errno = before;
}

}  // namespace

double draw(Family family, const double* parameters, std::size_t n) {
  double value = 0;
  ask(family, parameters, n, &value, 0);
  return value;
}

double draw(Family family, std::initializer_list<double> parameters) {
  return draw(family, parameters.begin(), parameters.size());
}

void draw(Family family, std::initializer_list<double> parameters, double* out, std::size_t count) {
  ask(family, parameters.begin(), parameters.size(), out, count);
}

double uniform() {
  return std::min(draw(kUniform, {0, 1}), 1 - 0x1p-53);
}

double uniform_below(double n) {
  return std::min(static_cast<double>(static_cast<unsigned long>(uniform() * n)), n - 1);
}

void* next_symbol(const char* name) {
  void* found = ::dlsym(RTLD_NEXT, name);
  if (found) return found;
  std::fprintf(stderr, "psn: there is no %s to call\n", name);
  std::abort();
}

}  // namespace psn::preload

// For programs that are compiled with psn/attach/random.h: false if there is no engine.
extern "C" PSN_EXPORT bool psn_attach_draw(int family, const double* parameters, unsigned long n,
                                           double* out) {
  if (!psn::preload::active()) return false;
  *out = psn::preload::draw(static_cast<psn::preload::Family>(family), parameters, n);
  return true;
}
extern "C" PSN_EXPORT bool psn_attach_active() {
  return psn::preload::active();
}
