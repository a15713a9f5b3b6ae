#include "psn/core/fiber.h"

#include <cxxabi.h>
#include <sys/mman.h>

#include <boost/context/fiber.hpp>
#include <boost/context/stack_context.hpp>
#include <boost/context/stack_traits.hpp>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "psn/base/signal_stack.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace psn {
namespace {

// The C++ runtime keeps the exceptions being handled per thread; each fiber needs its own, so that
// a simulator may make random choices inside a catch block.
struct HandledExceptions {
  void* caught = nullptr;  // __cxa_eh_globals of the Itanium C++ ABI
  unsigned int uncaught = 0;

  static HandledExceptions* of_thread() {
    return reinterpret_cast<HandledExceptions*>(abi::__cxa_get_globals());
  }
};

// Tells the sanitizers which stack is in use; nothing in ordinary builds.
class StackAnnotation {
 public:
#if defined(__SANITIZE_ADDRESS__)
  void set_stack(const void* top, std::size_t size) {
    bottom_ = static_cast<const char*>(top) - size;
    size_ = size;
  }
  void before_resume() {
    __sanitizer_start_switch_fiber(&outer_fake_, bottom_, size_);
  }
  // A stack that is gone may become another thread's, which must not inherit what was marked there.
  void after_resume(bool finished) {
    __sanitizer_finish_switch_fiber(outer_fake_, nullptr, nullptr);
    if (finished) __asan_unpoison_memory_region(bottom_, size_);
  }
  void on_entry() {
    __sanitizer_finish_switch_fiber(nullptr, &outer_bottom_, &outer_size_);
  }
  void before_suspend(bool last) {
    __sanitizer_start_switch_fiber(last ? nullptr : &inner_fake_, outer_bottom_, outer_size_);
  }
  void after_suspend() {
    __sanitizer_finish_switch_fiber(inner_fake_, &outer_bottom_, &outer_size_);
  }

 private:
  const void* bottom_ = nullptr;
  std::size_t size_ = 0;
  const void* outer_bottom_ = nullptr;
  std::size_t outer_size_ = 0;
  void* outer_fake_ = nullptr;
  void* inner_fake_ = nullptr;
#elif defined(__SANITIZE_THREAD__)
  StackAnnotation() : inner_(__tsan_create_fiber(0)) {}
  StackAnnotation(const StackAnnotation&) = delete;
  StackAnnotation& operator=(const StackAnnotation&) = delete;
  ~StackAnnotation() {
    __tsan_destroy_fiber(inner_);
  }
  void set_stack(const void*, std::size_t) {}
  void before_resume() {
    outer_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(inner_, 0);
  }
  void after_resume(bool) {}
  void on_entry() {}
  void before_suspend(bool) {
    __tsan_switch_to_fiber(outer_, 0);
  }
  void after_suspend() {}

 private:
  void* inner_;
  void* outer_ = nullptr;
#else
  void set_stack(const void*, std::size_t) {}
  void before_resume() {}
  void after_resume(bool) {}
  void on_entry() {}
  void before_suspend(bool) {}
  void after_suspend() {}
#endif
};

// Stacks with memory below them that cannot be used. A page of it would not do: a large array
// leaps over that, into the stack of another simulation, and destroys it without a word.
class GuardedStacks {
 public:
  static constexpr std::size_t kGuard = 1 << 20;

  explicit GuardedStacks(std::size_t size) {
    const std::size_t page = boost::context::stack_traits::page_size();
    size_ = (size + page - 1) / page * page + kGuard;
  }
  boost::context::stack_context allocate() const {
    void* const bottom = ::mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bottom == MAP_FAILED) throw std::bad_alloc();
    char* const usable = static_cast<char*>(bottom) + kGuard;
    if (::mprotect(usable, size_ - kGuard, PROT_READ | PROT_WRITE) != 0) {
      ::munmap(bottom, size_);
      throw std::bad_alloc();
    }
    boost::context::stack_context stack;
    stack.size = size_;
    stack.sp = static_cast<char*>(bottom) + size_;
    return stack;
  }
  // NOLINTNEXTLINE(readability-convert-member-functions-to-static): as Boost.Context wants it
  void deallocate(boost::context::stack_context& stack) const noexcept {
    ::munmap(static_cast<char*>(stack.sp) - stack.size, stack.size);
  }

 private:
  std::size_t size_;
};

// A stack in use, without its guard.
struct StackRange {
  const char* bottom = nullptr;
  const char* top = nullptr;
};

// NOLINTNEXTLINE(*-avoid-non-const-global-variables)
[[gnu::tls_model("initial-exec")]] thread_local const StackRange* stack_of_thread = nullptr;

}  // namespace

struct Fiber::State {
  std::function<void()> body;
  std::size_t stack_size;
  boost::context::fiber inner{};  // the suspended body, while the outside runs
  boost::context::fiber outer{};  // the suspended outside, while the body runs
  HandledExceptions exceptions{};
  StackAnnotation stack{};
  StackRange range{};
  bool started = false;
  bool finished = false;
  bool abandoned = false;
  bool unwinding = false;  // Unwind has been thrown
  bool stuck = false;      // the body swallowed it and went on

  void start();
  void unwind();
};

void Fiber::State::start() {
  thread_local const SignalStack for_overflows;
  const GuardedStacks allocator(stack_size);
  const auto memory = allocator.allocate();
  const std::size_t usable = memory.size - GuardedStacks::kGuard;
  stack.set_stack(memory.sp, usable);
  range = {static_cast<const char*>(memory.sp) - usable, static_cast<const char*>(memory.sp)};
  // Stacks start on page boundaries. Shifted by different amounts, the hot ends of many stacks do
  // not compete for the same lines of the cache.
  const std::size_t shift = reinterpret_cast<std::uintptr_t>(memory.sp) / memory.size % 32 * 128;
  const boost::context::preallocated place(static_cast<char*>(memory.sp) - shift,
                                           memory.size - shift, memory);
  inner = boost::context::fiber(std::allocator_arg, place, allocator,
                                [this](boost::context::fiber&& caller) {
                                  stack.on_entry();
                                  outer = std::move(caller);
                                  try {
                                    body();
                                  } catch (const Unwind&) {
                                  }
                                  finished = true;
                                  stack.before_suspend(true);
                                  return std::move(outer);
                                });
  started = true;
}

Fiber::Fiber(std::function<void()> body, std::size_t stack_size)
    : state_(new State{.body = std::move(body), .stack_size = stack_size}) {}

Fiber::~Fiber() {
  if (!state_->started || state_->finished) return;
  state_->abandoned = true;
  resume();
  // Code that catches everything and tries again would never end. Its stack is given up, with
  // whatever lives there.
  if (state_->stuck) {
    State* lost = state_.release();
#if defined(__SANITIZE_ADDRESS__)
    __lsan_ignore_object(lost);
#endif
    static_cast<void>(lost);
  }
}

bool Fiber::finished() const {
  return state_->finished;
}

void Fiber::resume() {
  State& state = *state_;
  if (!state.started) state.start();
  HandledExceptions* const handled = HandledExceptions::of_thread();
  std::swap(*handled, state.exceptions);
  state.stack.before_resume();
  const StackRange* const outer = std::exchange(stack_of_thread, &state.range);
  state.inner = std::move(state.inner).resume();
  stack_of_thread = outer;
  state.stack.after_resume(state.finished);
  std::swap(*handled, state.exceptions);
}

bool Fiber::overflowed(const void* fault, const void* stack_pointer) {
  if (!stack_of_thread) return false;
  const char* const bottom = stack_of_thread->bottom;
  const auto* const at = static_cast<const char*>(fault);
  const auto* const stood = static_cast<const char*>(stack_pointer);
  // A frame may even leap over the guard, but only downwards.
  constexpr std::size_t kLargestFrame = 64 << 20;
  return (at < bottom && at >= bottom - GuardedStacks::kGuard) ||
         (stood && stood < bottom && stood > bottom - kLargestFrame);
}

void Fiber::State::unwind() {
  if (unwinding) {
    stuck = true;
    stack.before_suspend(false);
    outer = std::move(outer).resume();  // for good
  }
  unwinding = true;
  throw Unwind();
}

void Fiber::suspend() {
  State& state = *state_;
  if (state.abandoned) state.unwind();
  state.stack.before_suspend(false);
  state.outer = std::move(state.outer).resume();
  state.stack.after_suspend();
  if (state.abandoned) state.unwind();
}

}  // namespace psn
