// Replay: a trace's controlled choices made again by another simulator, and what the two traces
// have in common.
#pragma once

#include <functional>
#include <vector>

#include "psn/core/guide.h"
#include "psn/core/trace.h"

namespace psn {

// Hands a trace's controlled values out in their order, for as long as the addresses agree; a run
// that follows it to its end has log p(controlled) + log p(observed) as its weight. Where there is
// none to follow, or no more of it, choices are drawn from the model.
class ReplayGuide : public Guide {
 public:
  // Which trace the run that begins is to follow; null: none. The trace must stay for that run.
  using TraceOf = std::function<const Trace*(Slot, const Ticket&)>;
  explicit ReplayGuide(TraceOf trace_of) : trace_of_(std::move(trace_of)) {}

  void begin(Slot slot, const Ticket& ticket) override;
  void choose(std::span<const Pending> requests, std::span<Choice> choices) override;

 private:
  struct Cursor {
    const Trace* trace = nullptr;
    std::size_t at = 0;
  };
  static const Entry* next(Cursor& cursor);

  TraceOf trace_of_;
  std::vector<Cursor> cursors_;
};

// Whether they make the same choices, by address, in the same order.
bool same_path(const Trace& a, const Trace& b);

// log s(controlled) + log s(observed), factors included.
double log_density(const Trace& trace);

}  // namespace psn
