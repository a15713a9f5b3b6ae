#include "psn/nn/run/surrogate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "psn/base/error.h"
#include "psn/core/visits.h"
#include "psn/nn/run/continuation.h"
#include "psn/nn/steps.h"
#include "psn/nn/successors.h"

namespace psn {
namespace {

constexpr std::uint64_t kTransitions = 1, kTags = 2;  // purposes of the random stream

// The addresses of the network's nodes in a simulator's table.
class NodeAddresses {
 public:
  NodeAddresses(const Network& network, AddressTable& table)
      : network_(network), table_(table), known_(network.size()) {}

  // The address of a node's next visit; `index` if the node stands for all of them.
  const Address* visit(NodeId id, std::optional<std::int64_t> index, Visits& visits) {
    auto& [variable, instances] = index ? indexed_[{id, *index}] : known_[id];
    const Node& node = network_.node(id);
    if (!variable) {
      VariableKey key = variable_key(node);
      if (index) key.index = index;
      variable = table_.variable(key);
    }
    // With counted instances 1, 2, ... lie at 1, 2, ...; a fixed one at 0.
    const std::size_t place = node.instance > 0 ? 0 : visits.count(variable->id);
    if (place >= instances.size()) instances.resize(place + 1, nullptr);
    if (!instances[place]) instances[place] = table_.address(variable, place + node.instance);
    return instances[place];
  }

 private:
  struct Known {
    const Variable* variable = nullptr;
    std::vector<const Address*> instances;
  };

  const Network& network_;
  AddressTable& table_;
  std::vector<Known> known_;
  std::map<std::pair<NodeId, std::int64_t>, Known> indexed_;
};

class SurrogateEnsemble : public Ensemble {
 public:
  SurrogateEnsemble(std::shared_ptr<const CompiledNetwork> compiled, AddressTable& table,
                    const SurrogateOptions& options, Fallbacks& fallbacks, const std::string& name,
                    std::size_t width)
      : network_(compiled->network()),
        options_(options),
        fallbacks_(fallbacks),
        name_(name),
        addresses_(network_, table),
        executor_(std::move(compiled), width),
        traces_(width) {
    pending_.reserve(width);
  }

  std::size_t width() const override { return traces_.size(); }
  void watch(Heartbeat* heartbeat) override { heartbeat_ = heartbeat; }

  void start(Slot slot, const Ticket& ticket, const Rng& rng) override {
    Running& trace = traces_[slot];
    trace.draw_from(ticket, rng);
    trace.result = Value();
    trace.log_transition = 0;
    trace.asks = trace.ended = false;
    trace.visits.restart();
    trace.indices.clear();
    trace.past.clear();
    trace.continues = false;
    executor_.restart(slot);
    drawn_.push_back({slot, &trace.value});
  }

  void answer(Slot slot, const Value& value) override {
    Running& trace = traces_[slot];
    trace.asks = false;
    trace.log_transition = 0;
    if (trace.continues) {
      trace.continuation->answer(value);
      continuing_.push_back(slot);
      return;
    }
    if (network_.node(executor_.node(slot)).role == Role::kTag) {
      drawn_.push_back({slot, &trace.value});  // which was drawn here
      return;
    }
    // An observation that nobody tells: one as in training, for the network to go on with.
    trace.value = value.empty() ? trace.distribution->draw(trace.transitions) : value;
    if (options_.simulator) trace.past.push_back({trace.address, trace.value});
    drawn_.push_back({slot, &trace.value});
  }

  void abandon(Slot slot) override {
    std::erase_if(drawn_, [&](const Executor::Drawn& drawn) { return drawn.row == slot; });
    std::erase(continuing_, slot);
    std::erase(asking_again_, slot);
    traces_[slot].continuation.reset();  // leaves the program where it is
  }

  bool fork(Slot from, Slot to, const Ticket& ticket, const Rng& rng) override {
    const Running& original = traces_[from];
    Running& copy = traces_[to];
    copy.draw_from(ticket, rng);
    static_cast<Progress&>(copy) = original;
    executor_.copy(from, to);
    if (copy.continues) {
      if (!copy.continuation) {
        copy.continuation = std::make_unique<Continuation>(*options_.simulator, heartbeat_);
      }
      copy.continuation->begin(ticket, rng, *original.continuation);
      continuing_.push_back(to);
    } else if (copy.asks) {
      asking_again_.push_back(to);
    } else {
      drawn_.push_back({to, &copy.value});
    }
    return true;
  }

  std::span<const Pending> advance() override {
    pending_.clear();
    for (const Slot slot : asking_again_) add_request(slot);
    asking_again_.clear();
    do {  // once more where all that came up is what the program would return
      advance_once();
    } while (pending_.empty() && !drawn_.empty());
    return pending_;
  }

 private:
  void advance_once() {
    next_.clear();
    if (heartbeat_) beat();
    executor_.transition(drawn_, [this](std::size_t i, std::span<const float> logits) {
      move(drawn_[i].row, logits);
    });
    drawn_.clear();
    for (const Slot slot : continuing_) take_over(slot);
    continuing_.clear();
    executor_.step(next_, [this](std::size_t i, const float* outputs) { ask(next_[i], outputs); });
    if (heartbeat_) heartbeat_->running.store(false, std::memory_order_relaxed);
  }

  // Where a trace is.
  struct Progress {
    Value value;   // the last answer, or the tag that was drawn last
    Value result;  // what the program would return, as far as that was learned
    std::optional<Distribution> distribution;
    Visits visits;
    Indices indices;
    const Address* address = nullptr;  // of the choice that is asked for
    double log_transition = 0;         // of coming there from the last request
    bool asks = false;                 // waits for an answer
    bool ended = false;
    // For falling back to the simulator.
    std::vector<Continuation::PastChoice> past;  // choices so far
    bool continues = false;
  };
  struct Running : Progress {
    Ticket ticket;
    Rng rng, transitions, tags;
    std::unique_ptr<Continuation> continuation;

    void draw_from(const Ticket& by, const Rng& stream) {
      ticket = by;
      rng = stream;
      transitions = stream.fork(kTransitions);
      tags = stream.fork(kTags);
    }
  };

  // Draws where a trace goes from its node.
  void move(Slot slot, std::span<const float> logits) {
    Running& trace = traces_[slot];
    const Node& from = network_.node(executor_.node(slot));
    find_targets(network_, executor_.node(slot), trace.indices, targets_);
    const bool literally = options_.unknown != SurrogateOptions::Unknown::kRenormalise;
    auto drawn =
        literally ? draw_transition(logits, true, trace.transitions) : draw_known(logits, trace);
    // What cannot be meant is unknown.
    const auto is_unknown = [&] { return drawn && !targets_[drawn->row]; };
    if (is_unknown() && options_.simulator) {
      if (fall_back(slot)) return;
      drawn = draw_known(logits, trace);
    }
    if (!drawn) fail(trace, from, "has no transition that could be taken");
    if (is_unknown()) fail(trace, from, "went on to an unknown address");
    trace.log_transition += drawn->log_prob;
    const Target next = *targets_[drawn->row];
    if (next.node == Network::kEnd) {
      trace.asks = trace.ended = true;
      return add_request(slot);
    }
    trace.address = addresses_.visit(next.node, next.index, trace.visits);
    trace.indices.pass(next, network_.node(next.node).scope);
    next_.push_back({slot, next.node, trace.address});
  }

  // Among the rows that can be taken.
  std::optional<DrawnTransition> draw_known(std::span<const float> logits, Running& trace) {
    mask(logits, targets_, possible_);
    return draw_transition(possible_, false, trace.transitions);
  }

  // Lets the simulator go on with a trace, if it can.
  bool fall_back(Slot slot) {
    Running& trace = traces_[slot];
    if (!trace.continuation) {
      trace.continuation = std::make_unique<Continuation>(*options_.simulator, heartbeat_);
    }
    trace.continues = trace.continuation->begin(trace.ticket, trace.rng, trace.past);
    auto& counter = trace.continues ? fallbacks_.taken : fallbacks_.refused;
    counter.fetch_add(1, std::memory_order_relaxed);
    if (trace.continues) continuing_.push_back(slot);
    return trace.continues;
  }

  // The next request of a trace that the simulator goes on with.
  void take_over(Slot slot) {
    pending_.push_back(traces_[slot].continuation->next());
    pending_.back().slot = slot;
  }

  void ask(const Executor::Next& next, const float* outputs) {
    Running& trace = traces_[next.row];
    const Node& node = network_.node(next.node);
    trace.distribution.emplace(head_distribution(node.value, node.scaling, outputs));
    if (is_derived(node.role)) trace.value = trace.distribution->draw(trace.tags);
    if (node.role == Role::kFinish) {
      trace.result = trace.value;
      drawn_.push_back({next.row, &trace.value});
      return;
    }
    trace.asks = true;
    add_request(next.row);
  }

  // For what a trace has come to: a choice, a tag or its end.
  void add_request(Slot slot) {
    Running& trace = traces_[slot];
    if (trace.ended) return add(slot, {.role = Role::kFinish, .value = &trace.result});
    const Node& node = network_.node(executor_.node(slot));
    add(slot, {.role = node.role,
               .control = node.control,
               .address = trace.address,
               .distribution = &*trace.distribution,
               .value = node.role == Role::kTag ? &trace.value : nullptr});
  }

  void add(Slot slot, const Request& request) {
    Running& trace = traces_[slot];
    Pending& pending = pending_.emplace_back();
    static_cast<Request&>(pending) = request;
    pending.slot = slot;
    pending.rng = &trace.rng;
    // Where the simulator may go on, what a transition's probability is depends on whether it
    // could.
    if (!options_.simulator) pending.log_transition = trace.log_transition;
  }

  void beat() {
    if (drawn_.empty() && continuing_.empty()) return;
    const Slot slot = drawn_.empty() ? continuing_.front() : drawn_.front().row;
    heartbeat_->trace.store(traces_[slot].ticket.trace, std::memory_order_relaxed);
    heartbeat_->running.store(true, std::memory_order_relaxed);
    const auto steps = heartbeat_->steps.load(std::memory_order_relaxed);
    heartbeat_->steps.store(steps + 1, std::memory_order_release);
  }

  [[noreturn]] void fail(const Running& trace, const Node& node, std::string_view what) const {
    throw ModelError(fmt::format("surrogate '{}', trace {}: '{}' {}", name_, trace.ticket.trace,
                                 node.text, what));
  }

  const Network& network_;
  const SurrogateOptions options_;
  Fallbacks& fallbacks_;
  std::string name_;
  NodeAddresses addresses_;
  Executor executor_;
  std::vector<Running> traces_;
  std::vector<Executor::Drawn> drawn_;
  std::vector<Executor::Next> next_;
  std::vector<Slot> continuing_;    // ready to go on in the simulator
  std::vector<Slot> asking_again_;  // copies of traces that wait for an answer
  Targets targets_;                 // of the transition that is drawn
  std::vector<float> possible_;     // its logits
  std::vector<Pending> pending_;
  Heartbeat* heartbeat_ = nullptr;
};

}  // namespace

std::optional<DrawnTransition> draw_transition(std::span<const float> logits, bool with_unknown,
                                               Rng& rng) {
  const std::size_t first = with_unknown ? 0 : 1;
  if (logits.size() <= first) return std::nullopt;
  const float largest = *std::max_element(logits.begin() + static_cast<long>(first), logits.end());
  double total = 0;
  for (std::size_t i = first; i < logits.size(); ++i) total += std::exp(logits[i] - largest);
  if (!(total > 0) || !std::isfinite(total)) return std::nullopt;
  double left = rng.uniform() * total;
  std::size_t row = first;  // with positive probability: rounding never leads past the last of them
  for (std::size_t i = first; i < logits.size() && left >= 0; ++i) {
    const double weight = std::exp(logits[i] - largest);
    if (weight > 0) row = i;
    left -= weight;
  }
  return DrawnTransition{row, double{logits[row]} - largest - std::log(total)};
}

SurrogateSimulator::SurrogateSimulator(std::string name, std::shared_ptr<const Network> network,
                                       SurrogateOptions options)
    : name_(std::move(name)),
      compiled_(std::make_shared<const CompiledNetwork>(std::move(network))),
      options_(std::move(options)) {
  if (compiled_->network().infers()) {
    throw InvalidArgument(fmt::format(
        "'{}' is an inference network: it guides a model (`network`) but is none itself", name_));
  }
  const bool falls_back = options_.unknown == SurrogateOptions::Unknown::kSimulator;
  if (falls_back != (options_.simulator != nullptr)) {
    throw InvalidArgument("a surrogate needs its simulator to fall back to, and only for that");
  }
}

std::unique_ptr<Ensemble> SurrogateSimulator::ensemble(std::size_t width) {
  return std::make_unique<SurrogateEnsemble>(compiled_, addresses(), options_, fallbacks_, name_,
                                             width);
}

}  // namespace psn
