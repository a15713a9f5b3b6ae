#include "psn/nn/run/network_guide.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/nn/observation.h"

namespace psn {
namespace {

class NetworkGuide : public Guide {
 public:
  NetworkGuide(std::shared_ptr<const CompiledNetwork> compiled, const std::vector<float>& observed,
               const NetworkGuideOptions& options)
      : network_(compiled->network()), executor_(std::move(compiled), 0) {
    executor_.set_observed(observed);
    log_network_ = std::log1p(-options.defensive);
    log_model_ = std::log(options.defensive);
    defensive_ = options.defensive;
  }

  void begin(Slot slot, const Ticket&) override {
    if (slot >= proposed_.size()) proposed_.resize(slot + 1);
    proposed_[slot] = {};
    executor_.restart(row(slot));
  }

  // What is drawn by the mixture of a defensive guide depends on all rounds.
  std::optional<std::uint64_t> follows_loops() const override {
    return defensive_ > 0 ? std::nullopt : std::optional<std::uint64_t>(kLoopEstimates);
  }
  void loop_begins(Slot slot) override { remember(slot, kBegin); }
  void loop_again(Slot slot) override { go_back(slot, kBegin); }
  void loop_accepts(Slot slot) override { remember(slot, kAccepted); }
  void loop_ends(Slot slot) override { go_back(slot, kAccepted); }

  void fork(Slot from, Slot to, const Ticket& ticket) override {
    begin(to, ticket);
    proposed_[to] = proposed_[from];
    executor_.copy(row(from), row(to));
  }

  void choose(std::span<const Pending> requests, std::span<Choice> choices) override {
    next_.clear();
    asked_.clear();
    drawn_.clear();
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const Pending& request = requests[i];
      const NodeId node = find(*request.address);
      if (node == kUnknown || !has_proposal(*request.distribution)) {
        choices[i] = {request.distribution->draw(*request.rng), std::nullopt};
        continue;
      }
      Proposed& so_far = proposed_[request.slot];
      if (!so_far.begun) so_far.from_model = defensive_ > 0 && request.rng->uniform() < defensive_;
      so_far.begun = true;
      if (!so_far.last.empty()) drawn_.push_back({row(request.slot), &so_far.last});
      next_.push_back({row(request.slot), node, request.address});
      asked_.push_back(i);
    }
    executor_.take(drawn_);
    vectors_.assign(next_.size(), {});
    const auto chosen = [&](std::size_t n, Value x, double log_p, double log_q) {
      Proposed& so_far = proposed_[requests[asked_[n]].slot];
      so_far.last = x;
      choices[asked_[n]] = {std::move(x), weigh(so_far, log_p, log_q)};
    };
    executor_.step(
        next_,
        [&](std::size_t n, const float* outputs) {
          const Pending& request = requests[asked_[n]];
          Drawn drawn = propose(network_.node(next_[n].node).proposal, *request.distribution,
                                request, outputs);
          chosen(n, std::move(drawn.x), drawn.log_p, drawn.log_q);
        },
        [&](std::size_t n, std::size_t component, const float* outputs) {
          const Pending& request = requests[asked_[n]];
          const Distribution p = component_of(*request.distribution, component);
          const Drawn drawn =
              propose(network_.node(next_[n].node).proposal.of_component(), p, request, outputs);
          Vector& vector = vectors_[n];
          vector.x.push_back(drawn.x[0]);
          vector.log_p += drawn.log_p;
          vector.log_q += drawn.log_q;
          if (vector.x.size() == request.distribution->size()) {
            chosen(n, Value(std::move(vector.x), request.distribution->shape()), vector.log_p,
                   vector.log_q);
          }
          return in_units_of(p, drawn.x[0]);
        });
  }

  // The network moves on by the value, as if it had chosen it.
  void given(const Pending& request, const Value& value) override {
    const NodeId node = find(*request.address);
    if (node == kUnknown || !has_proposal(*request.distribution)) return;
    Value& last = proposed_[request.slot].last;
    const Executor::Drawn before{row(request.slot), &last};
    if (!last.empty()) executor_.take({&before, 1});
    const Executor::Next next{row(request.slot), node, request.address};
    executor_.step({&next, 1}, [](std::size_t, const float*) {});
    last = value;
  }

 private:
  static constexpr NodeId kUnknown = ~NodeId{0}, kNotAsked = kUnknown - 1;
  // Rounds and loops by which a rejection loop's share of accepted rounds is estimated: with a
  // share of 1/2, the weights scatter by a third more.
  static constexpr std::uint64_t kLoopEstimates = 10;
  // Of each slot, after the row that it is at: where its loop began, and was accepted.
  enum Remembered : std::uint8_t { kBegin = 1, kAccepted, kRows };
  static Executor::Row row(Slot slot) { return slot * kRows; }

  struct Proposed {
    Value last;          // what the network last chose or was told in this trace; empty at first
    bool begun = false;  // it has chosen
    bool from_model = false;
    // log of the densities so far, under the network and under the model.
    double log_q = 0, log_p = 0;
  };

  // What was drawn of p's variable, or of one component of it, and its densities under the model
  // and under the network.
  struct Drawn {
    Value x;
    double log_p, log_q;
  };
  // A vector under way, component by component.
  struct Vector {
    std::vector<double> x;
    double log_p = 0, log_q = 0;
  };

  void remember(Slot slot, Remembered what) {
    if (slot >= remembered_.size()) remembered_.resize(slot + 1);
    remembered_[slot][what - 1] = proposed_[slot];
    executor_.copy(row(slot), row(slot) + what);
  }
  void go_back(Slot slot, Remembered what) {
    proposed_[slot] = remembered_[slot][what - 1];
    executor_.copy(row(slot) + what, row(slot));
  }

  Drawn propose(const ProposalType& type, const Distribution& p, const Pending& request,
                const float* outputs) const {
    Value x = proposed_[request.slot].from_model ? p.draw(*request.rng)
                                                 : proposal_draw(type, p, outputs, *request.rng);
    const double log_p = p.log_prob(x);
    const double log_q = proposal_log_prob(type, p, outputs, x, log_p);
    return {std::move(x), log_p, log_q};
  }

  // log q of a choice with these densities.
  double weigh(Proposed& so_far, double log_p, double log_q) const {
    if (defensive_ == 0) return log_q;
    // The mixture is over whole traces; its conditional density is a ratio of two of its densities.
    const double before = mixture(so_far);
    so_far.log_q += log_q;
    so_far.log_p += log_p;
    return mixture(so_far) - before;
  }

  double mixture(const Proposed& so_far) const {
    return log_add_exp(log_network_ + so_far.log_q, log_model_ + so_far.log_p);
  }

  NodeId find(const Address& address) {
    if (address.id >= node_of_.size()) node_of_.resize(address.id + 1, kNotAsked);
    NodeId& node = node_of_[address.id];
    if (node == kNotAsked) {
      node = network_.find(address).value_or(kUnknown);
      if (node != kUnknown && network_.is_observation(node)) node = kUnknown;
    }
    return node;
  }

  const Network& network_;
  Executor executor_;
  double defensive_, log_network_, log_model_;
  std::vector<Proposed> proposed_;
  std::vector<std::array<Proposed, 2>> remembered_;
  std::vector<NodeId> node_of_;  // by address id
  std::vector<Executor::Next> next_;
  std::vector<Executor::Drawn> drawn_;
  std::vector<std::size_t> asked_;  // by place in next_: the request
  std::vector<Vector> vectors_;     // by place in next_
};

}  // namespace

GuideFactory network_guide(std::shared_ptr<const CompiledNetwork> network, Simulator& simulator,
                           const Observations& observations, const NetworkGuideOptions& options) {
  if (!network->network().infers()) {
    throw InvalidArgument("a surrogate network cannot guide: train one with 'psn train inference'");
  }
  if (!(options.defensive >= 0 && options.defensive < 1)) {
    throw InvalidArgument("the defensive share must lie in [0, 1)");
  }
  const auto observed = observed_values(network->network(), simulator, observations);
  auto inputs = observation_inputs(network->network(), observed);
  return [network, inputs = std::move(inputs), options] {
    return std::make_unique<NetworkGuide>(network, inputs, options);
  };
}

}  // namespace psn
