// Fiber: a function that can be suspended in the middle and resumed later, on a stack of its own
// with a megabyte below it that nobody may touch (Boost.Context). A fiber stays on the thread that
// made it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace psn {

class Fiber {
 public:
  // Thrown out of suspend() to unwind an abandoned body; it must reach the end of the body.
  struct Unwind {};

  // `body` starts at the first resume().
  Fiber(std::function<void()> body, std::size_t stack_size);
  // A body that has not returned is unwound: its suspend() throws, so that destructors run.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs the body until it suspends or returns. Not to be called once finished().
  // The body must not let exceptions out.
  void resume();
  // Called by the body: hands control back to resume()'s caller.
  void suspend();
  bool finished() const;

  // For handlers of signals: has the fiber that runs on this thread run out of its stack? From
  // where memory was missing, and where the stack stood. Threads with fibers have an alternate
  // stack for such handlers.
  static bool overflowed(const void* fault, const void* stack_pointer);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace psn
