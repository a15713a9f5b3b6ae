// Handlers of signals need a stack of their own where a thread's is used up, or is no stack:
// oneDNN's products (2.6) keep packed matrices where the stack pointer says, in memory from the
// heap, and a handler that runs below destroys what lies there.
#pragma once

#include <signal.h>

#include <memory>

namespace psn {

// The stack of this thread's handlers, as long as it lives, unless the thread has one already.
class SignalStack {
 public:
  SignalStack() {
    stack_t old{};
    if (::sigaltstack(nullptr, &old) != 0 || (old.ss_flags & SS_DISABLE) == 0) return;
    memory_.reset(new char[kSize]);
    stack_t own{};
    own.ss_sp = memory_.get();
    own.ss_size = kSize;
    ::sigaltstack(&own, nullptr);
  }
  ~SignalStack() {
    if (!memory_) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  static constexpr std::size_t kSize = 64 << 10;
  std::unique_ptr<char[]> memory_;
};

// Like signal(), on that stack. Returns the handler before.
inline auto handle_signal(int number, void (*handler)(int)) {
  struct sigaction action {
  }, before{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  ::sigaction(number, &action, &before);
  return before.sa_handler;
}

}  // namespace psn
