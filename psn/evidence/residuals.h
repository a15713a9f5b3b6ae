// A surrogate along traces of its simulator: at each choice and transition, what it expected given
// the choices before, and what came.
//
// If it is right, the place of the simulator's value among draws of the surrogate's distribution is
// uniform, at each address and independent of all others (Rosenblatt's transform, by ranks, so that
// it holds for any family); and a transition is taken as often as the probabilities that it was
// given add up to. Both hold given the choices before: nothing is lost by marginals that agree.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "psn/nn/run/evaluate.h"
#include "psn/nn/successors.h"

namespace psn::evidence {

struct AddressResiduals {
  // In the order of traces. Of a vector that of one component, chosen at random.
  std::vector<double> places;
  // Of vectors: the place of the value's density among densities of draws.
  std::vector<double> densities;
};

struct TransitionResidual {
  std::string from, to;          // addresses, or sites where a surrogate shares what it knows
  std::uint64_t departures = 0;  // from `from`
  double taken = 0, expected = 0, variance = 0;  // sums over these

  double excess() const { return taken - expected; }
  // That it is taken as often as the surrogate expects, but for this much of a probability.
  double p_value(double tolerance) const;
};

// Not thread-safe.
class SurrogateResiduals {
 public:
  explicit SurrogateResiduals(std::shared_ptr<const CompiledNetwork> surrogate, std::uint64_t seed);
  ~SurrogateResiduals();

  // Traces of the simulator; those that leave what the surrogate knows do not count.
  void add(std::span<const Trace> traces);

  std::map<std::string, AddressResiduals> addresses() const;
  std::vector<TransitionResidual> transitions() const;  // in the order of the network's nodes

 private:
  class Watcher;
  std::shared_ptr<const CompiledNetwork> surrogate_;
  std::unique_ptr<Watcher> watcher_;
  std::uint64_t traces_ = 0;
};

}  // namespace psn::evidence
