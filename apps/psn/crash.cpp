#include "apps/psn/crash.h"

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "apps/psn/exit_codes.h"
#include "psn/core/activity.h"
#include "psn/core/fiber.h"

namespace psn::app {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasReporter = true;  // the sanitizer's own tells more
#else
constexpr bool kHasReporter = false;
#endif

struct Crash {
  int signal;
  const char* name;
};
constexpr std::array kCrashes{Crash{SIGSEGV, "SIGSEGV"}, Crash{SIGBUS, "SIGBUS"},
                              Crash{SIGFPE, "SIGFPE"}, Crash{SIGILL, "SIGILL"},
                              Crash{SIGABRT, "SIGABRT"}};

// A line of text without memory of its own: nothing here may allocate or lock.
class Line {
 public:
  Line& add(std::string_view text) {
    const std::size_t count = std::min(text.size(), text_.size() - size_);
    std::memcpy(text_.data() + size_, text.data(), count);
    size_ += count;
    return *this;
  }
  Line& add(std::uint64_t number) {
    std::array<char, 20> digits;
    std::size_t first = digits.size();
    do {
      digits[--first] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number > 0);
    return add(std::string_view(digits.data() + first, digits.size() - first));
  }
  void write() {
    add("\n");
    text_[size_ - 1] = '\n';
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text_.data(), size_);
  }

 private:
  std::array<char, 1024> text_;
  std::size_t size_ = 0;
};

const void* stack_pointer(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(machine.sp);
#else
  static_cast<void>(machine);
  return nullptr;
#endif
}

void say_where(Line& line, const Activity* activity) {
  if (!activity) {
    line.add("psn itself");
    return;
  }
  line.add("model '").add(activity->model).add("', trace ").add(activity->trace);
  if (activity->last) {
    constexpr std::size_t kLongest = 300;
    line.add(", after '").add(std::string_view(activity->last->text).substr(0, kLongest)).add("'");
  } else {
    line.add(", before its first choice");
  }
}

void report_crash(int number, siginfo_t* info, void* context) {
  // The first of several threads speaks; the others wait for the end that comes with it.
  static std::atomic_flag speaking = ATOMIC_FLAG_INIT;
  if (speaking.test_and_set()) {
    for (;;) ::pause();
  }
  Line line;
  if (::isatty(STDERR_FILENO) == 1) line.add("\r\033[K");  // over a line of progress
  line.add("psn: error: ");
  const Activity* activity = current_activity();
  say_where(line, activity);
  if (number == SIGSEGV && activity && Fiber::overflowed(info->si_addr, stack_pointer(context))) {
    line.add(": its stack of ").add(activity->stack_size / 1024);
    line.add(" KiB is too small; give it more with --stack-size").write();
    ::_exit(kModelFailed);
  }
  for (const Crash& crash : kCrashes) {
    if (crash.signal == number) line.add(": crashed (").add(crash.name).add(")");
  }
  line.write();
  ::signal(number, SIG_DFL);
  ::raise(number);
}

// A library that calls exit() would end all of the work without a word, and with its own code.
void report_exit() {
  const Activity* activity = current_activity();
  if (!activity) return;
  Line line;
  line.add("psn: error: ");
  say_where(line, activity);
  line.add(": ended the process with exit()").write();
  ::_exit(kModelFailed);
}

}  // namespace

void report_crashes() {
  std::atexit(report_exit);
  if (kHasReporter) return;
  struct sigaction action {};
  action.sa_sigaction = report_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (const Crash& crash : kCrashes) ::sigaction(crash.signal, &action, nullptr);
}

}  // namespace psn::app
