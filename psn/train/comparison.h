// How far a surrogate's conditional distributions are from its simulator's, judged along traces of
// the simulator: at each choice, given the same choices before it. Marginals can agree where
// conditionals do not; the KL divergence counts every conditional.
//
// In a simulator the next address follows from the choices so far, so that
//   KL = E[ sum over choices of KL(simulator's || surrogate's)  -  sum of log s(transition taken)
//   ].
// One that draws where it goes (another surrogate: Trace::transitions) adds log p of what it drew.
// What the surrogate does not know is added to a copy of it, as Theorem 2 has it, so the result is
// finite.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "psn/nn/run/evaluate.h"
#include "psn/train/growth.h"

namespace psn {

struct AddressDeviation {
  std::string address;  // "begin" for what comes before all choices
  std::uint64_t visits = 0;
  double value = 0;         // KL of the value's distribution, nats per trace
  double transition = 0;    // KL of where to go from there, nats per trace
  bool closed_form = true;  // is `value` exact at each visit? Else mean log ratios stand for it
};

struct ConditionalDeviation {
  std::uint64_t traces = 0;
  std::uint64_t unseen = 0;  // traces with an address or transition that the surrogate lacks
  double kl = 0;             // mean of log p - log s, nats per trace
  double standard_error = 0;
  double values = 0, transitions = 0;  // sums over the table: together another estimate of the KL
  // The probability that the surrogate, taken along a simulator's trace, draws `unknown` at one of
  // its transitions; mean over traces. The share of traces that would fall back to the simulator.
  double unknown_mass = 0;
  std::vector<AddressDeviation> addresses;  // by what they contribute, the largest first
};

// Not thread-safe.
class ConditionalComparison {
 public:
  explicit ConditionalComparison(const Network& surrogate);

  // Traces of the simulator, all with one table of addresses, with their distributions.
  void add(std::span<const Trace> traces);
  // Throws InvalidArgument if the surrogate knows no trace as a whole: it is another model's.
  ConditionalDeviation result() const;

 private:
  class Tally;

  const Network& known_;
  std::shared_ptr<Network> network_;  // known_, grown by what the traces bring
  Growth growth_;
  std::shared_ptr<const CompiledNetwork> compiled_;
  std::map<std::string, AddressDeviation> addresses_;  // sums over traces
  std::uint64_t traces_ = 0, unseen_ = 0;
  double sum_ = 0, squares_ = 0, unknown_ = 0;
  std::string unexpected_;  // the first address that the surrogate does not know
};

}  // namespace psn
