// ServedRun: one run of a simulator, whose choices an engine makes.
#pragma once

#include <memory>
#include <optional>

#include "psn/core/ensemble.h"
#include "psn/ppx/codec.h"

namespace psn::ppx {

// Not thread-safe. A run that is destroyed before its end is left where it is.
class ServedRun {
 public:
  // The ensemble has one slot, and nothing runs in it. `tells_data`: the program's own data are
  // sent along with its observations.
  ServedRun(std::unique_ptr<Ensemble> ensemble, bool tells_data);

  // Both give the simulator's next request, or its RunResult. They throw ProtocolError for a
  // message that does not answer the last request, ModelError for what goes wrong in the simulator:
  // then nothing but destruction is left to do.
  Message start(const Ticket& ticket, const Rng& rng);
  Message answer(const Message& message);

  // For the next run, after RunResult.
  std::unique_ptr<Ensemble> take_ensemble() { return std::move(ensemble_); }

 private:
  // What a message tells the simulator.
  Value reply_value(const SampleResult& message) const;
  Value reply_value(const ObserveResult& message) const;
  Value reply_value(const TagResult& message) const;
  template <class Other>
  Value reply_value(const Other& message) const;
  template <class M>
  void expect(Role role, const M& message) const;
  Message next_request();

  std::unique_ptr<Ensemble> ensemble_;
  const bool tells_data_;
  std::optional<Pending> pending_;  // what the engine has been asked
};

}  // namespace psn::ppx
