#include "psn/nn/run/evaluate.h"

#include <algorithm>
#include <cmath>

#include "psn/base/numerics.h"
#include "psn/nn/steps.h"

namespace psn {
namespace {

constexpr std::size_t kWidth = 512;  // traces side by side

const std::string& scope_of(const Entry& entry) {
  return entry.address->variable->site->scope;
}

// A tag's length is not part of its address.
bool has_form(const Node& node, const Value& value) {
  return !is_derived(node) || value.size() == node.value.components();
}

// One trace on its way through the network.
struct Path {
  std::size_t trace = 0;
  std::vector<const Entry*> entries;
  std::vector<Entry> derived;       // of them, those that are no choices
  std::vector<std::uint32_t> rows;  // by which they are reached, and then end
  Indices indices;
  std::size_t at = 0;          // next to be reached
  std::optional<Value> value;  // of the last one, if it is another than the trace's

  const Value* last() const {
    return at == 0 ? nullptr : value ? &*value : &entries[at - 1]->value;
  }

  bool done() const { return at == rows.size(); }
};

// nullopt: it leaves the network's vocabulary.
std::optional<Path> path_of(const Network& network, const Trace& trace, std::size_t index) {
  Path path{.trace = index};
  Way way(network);
  const auto go = [&](const Target& to, std::string_view scope) {
    const auto row = way.row_to(to);
    if (row) path.rows.push_back(*row);
    way.go(to, scope);
    return row.has_value();
  };
  Steps steps(trace, network.config().tags);
  for (const Entry* entry : steps.entries) {
    if (entry->role == Role::kFactor) continue;
    const auto node = network.find(*entry->address);
    if (!node || !has_form(network.node(*node), entry->value) ||
        !go(network.target(*node, *entry->address), scope_of(*entry))) {
      return std::nullopt;
    }
    path.entries.push_back(entry);
  }
  path.derived = std::move(steps.derived);
  return go({Network::kEnd, {}}, "") ? std::optional(std::move(path)) : std::nullopt;
}

// Log probability of a row of logits.
double log_softmax(std::span<const float> logits, std::size_t row) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double total = 0;
  for (const float logit : logits) total += std::exp(logit - largest);
  return logits[row] - largest - std::log(total);
}

class Walk {
 public:
  Walk(std::shared_ptr<const CompiledNetwork> compiled, Follower& follower, std::size_t width)
      : network_(compiled->network()), executor_(std::move(compiled), width), follower_(follower) {}

  // Up to `width` paths, side by side.
  void run(std::span<Path> paths) {
    for (Executor::Row row = 0; row < paths.size(); ++row) executor_.restart(row);
    for (;;) {
      std::vector<Executor::Drawn> drawn;
      std::vector<Executor::Next> next;
      for (Executor::Row row = 0; row < paths.size(); ++row) {
        const Path& path = paths[row];
        if (path.done()) continue;
        drawn.push_back({row, path.last()});
      }
      if (drawn.empty()) return;
      executor_.transition(drawn, [&](std::size_t i, std::span<const float> logits) {
        Path& path = paths[drawn[i].row];
        const NodeId from = executor_.node(drawn[i].row);
        const std::uint32_t row = path.rows[path.at];
        const NodeId to = network_.node(from).successors[row - 1].node;
        follower_.transition(path.trace, from, logits, row, path.indices);
        if (to == Network::kEnd) {
          ++path.at;
        } else {
          const Entry& entry = *path.entries[path.at];
          path.indices.pass(network_.target(to, *entry.address), scope_of(entry));
          next.push_back({drawn[i].row, to, entry.address});
        }
      });
      executor_.step(next, [&](std::size_t i, const float* outputs) {
        Path& path = paths[next[i].row];
        const Node& node = network_.node(next[i].node);
        const Entry& entry = *path.entries[path.at++];
        const Distribution distribution = head_distribution(node.value, node.scaling, outputs);
        if (!is_derived(entry)) follower_.choice(path.trace, entry, distribution);
        path.value = follower_.instead(path.trace, entry, distribution);
      });
    }
  }

 private:
  const Network& network_;
  Executor executor_;
  Follower& follower_;
};

class LogProb : public Follower {
 public:
  LogProb(const Network& network, std::span<double> results, bool renormalise)
      : network_(network), results_(results), renormalise_(renormalise) {}

  void transition(std::size_t trace, NodeId from, std::span<const float> logits, std::size_t row,
                  const Indices& indices) override {
    if (from == Network::kBegin) results_[trace] = 0;
    results_[trace] += renormalise_
                           ? log_prob_of_known(network_, from, logits, row, indices, known_)
                           : log_softmax(logits, row);
  }
  void choice(std::size_t trace, const Entry& entry, const Distribution& distribution) override {
    results_[trace] += distribution.log_prob(entry.value);
  }

 private:
  const Network& network_;
  std::span<double> results_;
  bool renormalise_;
  KnownRows known_;
};

// The network grown by what a trace brings: first its new addresses, then, from each address, all
// new transitions at once.
Network grown(Network network, const Trace& trace) {
  std::vector<SeenStep> missing;
  Way way(network);
  const auto go = [&](const Target& to, std::string_view scope) {
    if (!way.row_to(to)) missing.push_back({way.step_to(to, scope)});
    way.go(to, scope);
  };
  const Steps steps(trace, network.config().tags);
  for (const Entry* step : steps.entries) {
    const Entry& entry = *step;
    if (entry.role == Role::kFactor) continue;
    auto node = network.find(*entry.address);
    if (!node) {
      node = network.add_node(*entry.address, entry);
      ScalingEstimator estimator;
      estimator.add({entry.value, *entry.distribution}, *node);
      network.set_scaling(*node, estimator.fit(network.node(*node).scaling));
      network.set_bounds(*node, estimator.bounds());
    }
    go(network.target(*node, *entry.address), scope_of(entry));
  }
  go({Network::kEnd, {}}, "");
  add_transitions(network, missing);
  return network;
}

}  // namespace

double log_prob_of_known(const Network& network, NodeId from, std::span<const float> logits,
                         std::size_t row, const Indices& indices, KnownRows& known) {
  find_targets(network, from, indices, known.targets);
  if (!known.targets[row]) return -kInfinity;
  mask(logits, known.targets, known.logits);
  return log_softmax(known.logits, row);
}

std::vector<std::size_t> follow(std::shared_ptr<const CompiledNetwork> network,
                                std::span<const Trace> traces, Follower& follower) {
  std::vector<std::size_t> unknown_paths;
  std::vector<Path> paths;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (auto path = path_of(network->network(), traces[i], i)) {
      paths.push_back(std::move(*path));
    } else {
      unknown_paths.push_back(i);
    }
  }
  // Of similar length side by side.
  std::stable_sort(paths.begin(), paths.end(),
                   [](const Path& a, const Path& b) { return a.rows.size() < b.rows.size(); });
  Walk walk(std::move(network), follower, std::min(kWidth, paths.size()));
  for (std::size_t first = 0; first < paths.size(); first += kWidth) {
    walk.run(std::span(paths).subspan(first, std::min(kWidth, paths.size() - first)));
  }
  return unknown_paths;
}

std::vector<double> log_prob(std::shared_ptr<const CompiledNetwork> network,
                             std::span<const Trace> traces, UnknownEvaluation unknown) {
  std::vector<double> results(traces.size(), -kInfinity);
  LogProb follower(network->network(), results, unknown == UnknownEvaluation::kRenormalise);
  const auto unknown_paths = follow(network, traces, follower);
  if (unknown != UnknownEvaluation::kExpand) return results;
  for (const std::size_t i : unknown_paths) {
    const auto larger = std::make_shared<const CompiledNetwork>(
        std::make_shared<const Network>(grown(network->network(), traces[i])));
    results[i] = log_prob(larger, traces.subspan(i, 1), UnknownEvaluation::kZero)[0];
  }
  return results;
}

double log_prob(const Network& network, const Trace& trace, UnknownEvaluation unknown) {
  const std::shared_ptr<const Network> borrowed(std::shared_ptr<const Network>(), &network);
  return log_prob(std::make_shared<const CompiledNetwork>(borrowed), {&trace, 1}, unknown)[0];
}

}  // namespace psn
