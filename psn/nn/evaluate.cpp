#include "psn/nn/evaluate.h"

#include <algorithm>
#include <cmath>

#include "psn/base/numerics.h"

namespace psn {
namespace {

constexpr std::size_t kWidth = 512;  // traces side by side

bool is_choice(const Entry& entry) {
  return entry.role == Role::kSample || entry.role == Role::kObserve;
}

// One trace on its way through the network.
struct Path {
  std::size_t trace = 0;
  std::vector<const Entry*> entries;
  std::vector<PlaceId> places;  // of the entries, then end
  std::size_t at = 0;           // next to be reached

  bool done() const { return at == places.size(); }
};

// nullopt: it leaves the network's vocabulary.
std::optional<Path> path_of(const Network& network, const Trace& trace, std::size_t index) {
  Path path{.trace = index};
  NodeId previous = Network::kBegin;
  LastIndex last_index;
  const auto go = [&](const Place& next) {
    const auto id = network.find_place(next);
    if (!id) return false;
    path.places.push_back(*id);
    const bool known = network.node(previous).successor_row.contains(*id);
    previous = next.node;
    return known;
  };
  for (const Entry& entry : trace.entries) {
    if (!is_choice(entry)) continue;
    const auto node = network.find(*entry.address);
    const auto step = last_index.step_to(entry.address->variable->index);
    if (!node || !go({*node, step})) return std::nullopt;
    path.entries.push_back(&entry);
  }
  return go({Network::kEnd, {}}) ? std::optional(std::move(path)) : std::nullopt;
}

// Log probability of a row of logits, from the unknown row or from the one after it.
double log_softmax(std::span<const float> logits, std::size_t row, bool renormalise) {
  const auto used = logits.subspan(renormalise ? 1 : 0);
  const double largest = *std::max_element(used.begin(), used.end());
  double total = 0;
  for (const float logit : used) total += std::exp(logit - largest);
  return logits[row] - largest - std::log(total);
}

class Walk {
 public:
  Walk(std::shared_ptr<const CompiledNetwork> compiled, Follower& follower)
      : network_(compiled->network()),
        executor_(std::move(compiled), kWidth),
        follower_(follower) {}

  // Up to kWidth paths, side by side.
  void run(std::span<Path> paths) {
    for (Executor::Row row = 0; row < paths.size(); ++row) executor_.restart(row);
    for (;;) {
      std::vector<Executor::Drawn> drawn;
      std::vector<Executor::Next> next;
      for (Executor::Row row = 0; row < paths.size(); ++row) {
        const Path& path = paths[row];
        if (path.done()) continue;
        drawn.push_back({row, path.at == 0 ? nullptr : &path.entries[path.at - 1]->value});
      }
      if (drawn.empty()) return;
      executor_.transition(drawn, [&](std::size_t i, std::span<const float> logits) {
        Path& path = paths[drawn[i].row];
        const NodeId from = executor_.node(drawn[i].row);
        const PlaceId to = path.places[path.at];
        follower_.transition(path.trace, from, logits, network_.node(from).successor_row.at(to));
        if (to == Network::kEnd) {
          ++path.at;
        } else {
          next.push_back({drawn[i].row, network_.place(to).node, path.entries[path.at]->address});
        }
      });
      executor_.step(next, [&](std::size_t i, const float* outputs) {
        Path& path = paths[next[i].row];
        const Node& node = network_.node(next[i].node);
        follower_.choice(path.trace, *path.entries[path.at++],
                         head_distribution(node.value, node.scaling, outputs));
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
  LogProb(std::span<double> results, bool renormalise)
      : results_(results), renormalise_(renormalise) {}

  void transition(std::size_t trace, NodeId from, std::span<const float> logits,
                  std::size_t row) override {
    if (from == Network::kBegin) results_[trace] = 0;
    results_[trace] += log_softmax(logits, row, renormalise_);
  }
  void choice(std::size_t trace, const Entry& entry, const Distribution& distribution) override {
    results_[trace] += distribution.log_prob(entry.value);
  }

 private:
  std::span<double> results_;
  bool renormalise_;
};

// Of the transitions alone.
class PathLogProb : public LogProb {
 public:
  using LogProb::LogProb;
  void choice(std::size_t, const Entry&, const Distribution&) override {}
};

// The network grown by what a trace brings: first its new addresses, then, from each address, all
// new transitions at once.
Network grown(Network network, const Trace& trace) {
  std::vector<std::pair<NodeId, PlaceId>> missing;
  NodeId previous = Network::kBegin;
  LastIndex last_index;
  const auto go = [&](const Place& next) {
    const std::pair step(previous, network.add_place(next));
    if (!network.node(previous).successor_row.contains(step.second) &&
        std::find(missing.begin(), missing.end(), step) == missing.end()) {
      missing.push_back(step);
    }
    previous = next.node;
  };
  for (const Entry& entry : trace.entries) {
    if (!is_choice(entry)) continue;
    auto node = network.find(*entry.address);
    if (!node) {
      node = network.add_node(*entry.address, entry);
      ScalingEstimator estimator;
      estimator.add({entry.value, *entry.distribution}, *node);
      network.set_scaling(*node, estimator.fit(network.node(*node).scaling));
      network.set_bounds(*node, estimator.bounds());
    }
    go({*node, last_index.step_to(entry.address->variable->index)});
  }
  go({Network::kEnd, {}});
  std::stable_sort(missing.begin(), missing.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < missing.size();) {
    std::vector<PlaceId> to;
    const NodeId from = missing[i].first;
    for (; i < missing.size() && missing[i].first == from; ++i) to.push_back(missing[i].second);
    network.add_successors(from, to);
  }
  return network;
}

}  // namespace

std::vector<std::size_t> follow(std::shared_ptr<const CompiledNetwork> network,
                                std::span<const Trace> traces, Follower& follower) {
  std::vector<std::size_t> strange;
  std::vector<Path> paths;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (auto path = path_of(network->network(), traces[i], i)) {
      paths.push_back(std::move(*path));
    } else {
      strange.push_back(i);
    }
  }
  // Of similar length side by side.
  std::stable_sort(paths.begin(), paths.end(),
                   [](const Path& a, const Path& b) { return a.places.size() < b.places.size(); });
  Walk walk(std::move(network), follower);
  for (std::size_t first = 0; first < paths.size(); first += kWidth) {
    walk.run(std::span(paths).subspan(first, std::min(kWidth, paths.size() - first)));
  }
  return strange;
}

std::vector<double> log_prob(std::shared_ptr<const CompiledNetwork> network,
                             std::span<const Trace> traces, UnknownEvaluation unknown) {
  std::vector<double> results(traces.size(), -kInfinity);
  LogProb follower(results, unknown == UnknownEvaluation::kRenormalise);
  const auto strange = follow(network, traces, follower);
  if (unknown != UnknownEvaluation::kExpand) return results;
  for (const std::size_t i : strange) {
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

std::vector<double> path_log_prob(std::shared_ptr<const CompiledNetwork> network,
                                  std::span<const Trace> traces) {
  std::vector<double> results(traces.size(), -kInfinity);
  PathLogProb follower(results, true);
  follow(std::move(network), traces, follower);
  return results;
}

}  // namespace psn
