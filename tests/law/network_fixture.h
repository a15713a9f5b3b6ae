// Networks for tests: grown from the traces of a program as a trainer would, with random weights;
// and a plain scalar implementation of what they compute, to hold the fast one against.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "experiments/control_flow/control_flow.h"
#include "psn/core/in_process.h"
#include "psn/core/run.h"
#include "psn/nn/successors.h"
#include "psn/nn/tally/fit.h"
#include "tests/law/scalar_core.h"

namespace psn::test {

inline std::vector<Trace> simulate(Simulator& simulator, std::uint64_t count,
                                   std::uint64_t seed = 1, Parallelism parallelism = {16, 1}) {
  std::vector<Trace> traces(count);
  run_traces(
      simulator, count, [] { return std::make_unique<PriorGuide>(); },
      [&](std::uint64_t i, Trace& trace) { traces[i] = trace; },
      {.seed = seed, .max_length = 20'000, .keep_distributions = true}, parallelism);
  return traces;
}

inline bool is_choice(const Entry& e) {
  return e.role == Role::kSample || e.role == Role::kObserve;
}

// Adds what is new in the traces: nodes, then transitions. Fits the scaling of new nodes and, if
// wanted, of old ones.
inline void grow(Network& network, const std::vector<Trace>& traces, bool refit = true) {
  const NodeId old = static_cast<NodeId>(network.size());
  std::map<NodeId, ScalingEstimator> estimators;
  std::vector<SeenStep> missing;
  for (const Trace& trace : traces) {
    Way way(network);
    const auto go = [&](const Target& to, std::string_view scope) {
      if (!way.row_to(to)) missing.push_back({way.step_to(to, scope)});
      way.go(to, scope);
    };
    for (const Entry& entry : trace.entries) {
      if (!is_choice(entry)) continue;
      auto node = network.find(*entry.address);
      if (!node) node = network.add_node(*entry.address, entry);
      estimators[*node].add({entry.value, *entry.distribution}, *node);
      go(network.target(*node, *entry.address), entry.address->variable->site->scope);
    }
    go({Network::kEnd, {}}, "");
  }
  for (auto& [node, estimator] : estimators) {
    if (!refit && node < old) continue;
    network.set_scaling(node, estimator.fit(network.node(node).scaling));
    network.set_bounds(node, estimator.bounds());
  }
  add_transitions(network, missing);
}

// What a tally's plan is fitted to.
inline TallySample tally_sample(const std::vector<Trace>& traces) {
  TallySample sample;
  for (const Trace& trace : traces) {
    for (const Entry& entry : trace.entries) {
      if (!is_choice(entry)) continue;
      const Distribution& d = *entry.distribution;
      const TallyType type =
          tally_type({d.family(), d.shape(), static_cast<std::uint32_t>(d.categories()), 0});
      sample.add(entry.address->variable->site->text, type, tally_value(type, entry.value));
    }
    sample.end_trace();
  }
  return sample;
}

// Moves every weight, so that nothing is zero or alike by construction.
inline void shake(Network& network, double by, std::uint64_t seed) {
  Rng rng(seed, 0, 77);
  Parameters& parameters = network.parameters();
  for (BlockId id = 0; id < parameters.block_count(); ++id) {
    const Block& block = parameters.block(id);
    for (std::size_t i = 0; i < std::size_t{block.rows} * block.columns; ++i) {
      parameters.values(id)[i] += static_cast<float>(by * rng.normal());
    }
  }
}

struct NetworkOptions {
  NetworkConfig config;
  std::uint64_t traces = 300;
  double shake = 0.15;
  std::uint64_t seed = 3;
};

inline NetworkConfig small_config(Addressing addressing = Addressing::kInstance,
                                  std::size_t depth = 1, const std::string& core = "lstm") {
  NetworkConfig config;
  config.core = core;
  config.attention_heads = 3;
  config.addressing = addressing;
  config.core_dim = 19;  // no multiple of any vector's length
  config.core_depth = depth;
  config.sample_embedding_dim = 5;
  config.address_embedding_dim = 7;
  config.distribution_type_embedding_dim = 6;
  config.transition_hidden_dim = 13;
  config.recall = 2;
  config.variable_layers = {2, 11};
  return config;
}

inline std::shared_ptr<Network> network_of(const Model& model, const NetworkOptions& options) {
  InProcess simulator(model);
  auto network = std::make_shared<Network>(options.config, options.seed);
  const std::vector<Trace> traces = simulate(simulator, options.traces);
  grow(*network, traces);
  if (network->tallies()) network->set_tally(fit_tally(tally_sample(traces)));
  shake(*network, options.shake, options.seed);
  return network;
}

// A program with every family, vectors, an uncontrolled choice and a random end.
inline Model all_families() {
  return {
      "all-families", [](Context& ctx) {
        const double a = ctx.sample(Normal(1, 2), {.name = "normal"});
        ctx.sample(Uniform(-1, 3), {.name = "uniform"});
        ctx.sample(Uniform(-1, 3 + std::abs(a)), {.name = "varying"});
        const auto c = ctx.sample(Categorical({0.2, 0.3, 0.5}), {.name = "categorical"});
        ctx.sample(Poisson(4), {.name = "poisson"});
        const auto b = ctx.sample(Bernoulli(0.5), {.name = "bernoulli"});
        ctx.sample(Beta(2, 3), {.name = "beta"});
        ctx.sample(Exponential(0.5), {.name = "exponential", .control = false});
        ctx.sample(Gamma(2, 3), {.name = "gamma"});
        ctx.sample(LogNormal(0.5, 0.3), {.name = "lognormal"});
        ctx.sample(Binomial(9, 0.4), {.name = "binomial"});
        ctx.sample(Weibull(2, 1.5), {.name = "weibull"});
        ctx.sample(TruncatedNormal(0, 1, -1, 2), {.name = "truncated"});
        ctx.sample(Mixture(Value{0.4, 0.6}, {Normal(-2, 1), Normal(2, 0.5)}), {.name = "mixture"});
        ctx.sample(Normal(Value{1, 2, 3, 4, 5}, 2), {.name = "vector"});
        ctx.sample(Dirichlet({1, 2, 3}), {.name = "dirichlet"});
        ctx.sample(MultivariateNormal({a, 2}, Value({2, 1, 1, 3}, {2, 2})), {.name = "joint"});
        if (b == 1) return;  // sometimes the last
        for (int i = 0; i <= c.integer(); ++i) ctx.sample(Normal(i, 1), {.name = "again"});
        ctx.observe(Normal(a, 1), {.name = "x"});
      }};
}

// Events that change a level until it is too low or too high: a program that counts.
inline Model events() {
  return {"events", [](Context& ctx) {
            const double speed = ctx.sample(Gamma(9, 9), {.name = "speed"});
            int level = 3;
            for (std::int64_t i = 0; level > 0 && level < 8; ++i) {
              ctx.sample(Exponential(speed * level), {.name = "wait", .index = i});
              const auto event =
                  ctx.sample(Categorical({0.4, 0.4, 0.2}), {.name = "event", .index = i});
              level += event == 0 ? 1 : event == 1 ? -1 : 0;
              if (event == 2) ctx.sample(Normal(level, 1), {.name = "seen"});
            }
            ctx.observe(Normal(level, 0.5), {.name = "x"});
          }};
}

// The network, one number at a time.
class ScalarNetwork : public ScalarBlocks {
 public:
  explicit ScalarNetwork(const Network& network)
      : ScalarBlocks(network), core_(network), embedded_(network.embedding()) {
    if (network.tally()) tally_.emplace(*network.tally());
  }

  Numbers logits() const { return affine(node().transition, {}); }

  Numbers logits(const Value& x) {
    std::vector<float> input(node().value.inputs());
    represent(node().value, node().scaling, x, input.data());
    const Numbers represented(input.begin(), input.end());
    embedded_ = affine(node().embedding, represented);
    const Numbers before = joined(output_, recalled());
    const Numbers hidden = relu(affine(node().transition_hidden, joined(before, embedded_)));
    if (network_.recalls()) last_[at_] = affine(node().recall, represented);
    Numbers logits = affine(node().transition, joined(hidden, represented));
    if (!tally_) return logits;
    tally_->add(node().tally_uses, x);
    const float* weights = network_.parameters().values(node().transition_tally);
    for (double& logit : logits) {
      for (const float counted : tally_->inputs()) logit += double{counted} * *weights++;
    }
    return logits;
  }

  std::vector<float> step(NodeId next, std::uint32_t instance,
                          std::optional<std::int64_t> index = {}) {
    const auto& projections = network_.projections();
    Numbers inputs(network_.core_inputs());
    add(inputs, projections.previous_type, embedding(network_.type_embedding(), node().type_row));
    add(inputs, projections.previous_address, embedding(network_.address_embedding(), at_));
    at_ = next;
    add(inputs, projections.current_type, embedding(network_.type_embedding(), node().type_row));
    add(inputs, projections.current_address, embedding(network_.address_embedding(), at_));
    if (network_.config().addressing != Addressing::kInstance) {
      add(inputs, projections.instance, {std::log(static_cast<double>(instance))});
    }
    if (network_.shares_indices()) {
      const auto features = index_features(index);
      for (std::size_t f = 0; f < features.size(); ++f) {
        for (std::size_t j = 0; j < inputs.size(); ++j) {
          inputs[j] +=
              features[f] * network_.parameters().values(projections.index)[f * inputs.size() + j];
        }
      }
    }
    if (tally_) {
      const float* weights = network_.parameters().values(projections.tally);
      for (const float input : tally_->inputs()) {
        for (double& sum : inputs) sum += double{input} * *weights++;
      }
    }
    output_ = core_.step(inputs, embedded_);
    Numbers out = joined(output_, recalled());
    for (std::size_t i = 0; i < node().value_layers.size(); ++i) {
      out = affine(node().value_layers[i], out);
      if (i + 1 < node().value_layers.size()) out = relu(out);
    }
    return {out.begin(), out.end()};
  }

  const Node& node() const { return network_.node(at_); }

 private:
  Numbers embedding(BlockId id, std::size_t row) const {
    const Block& block = network_.parameters().block(id);
    const float* values = network_.parameters().values(id) + row * block.columns;
    return {values, values + block.columns};
  }

  // The last value of every address, each in its way.
  Numbers recalled() const {
    Numbers sum(network_.recalls() ? network_.context() : 0);
    for (const auto& [node, part] : last_) {
      for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += part[j];
    }
    return sum;
  }

  NodeId at_ = Network::kBegin;
  ScalarCore core_;
  Numbers output_, embedded_;
  std::map<NodeId, Numbers> last_;
  std::optional<Tally> tally_;
};

inline std::vector<double> softmax(std::vector<double> v) {
  const double largest = *std::max_element(v.begin(), v.end());
  double sum = 0;
  for (double& x : v) sum += x = std::exp(x - largest);
  for (double& x : v) x /= sum;
  return v;
}

// What a trace is made of under the network: softmax of the transitions, and densities of values.
struct ScalarEvaluation {
  double transitions = 0, known_transitions = 0, values = 0;
};

inline ScalarEvaluation evaluate(const Network& network, const Trace& trace) {
  ScalarNetwork scalar(network);
  ScalarEvaluation result;
  auto p = softmax(scalar.logits());
  Way way(network);
  Indices indices;
  Targets targets;
  const auto go = [&](const Target& to, std::string_view scope) {
    const auto row = way.row_to(to).value();
    find_targets(network, way.at(), indices, targets);
    double known = 0;
    for (std::size_t i = 0; i < p.size(); ++i) known += targets[i] ? p[i] : 0;
    result.transitions += std::log(p[row]);
    result.known_transitions += std::log(p[row] / known);
    way.go(to, scope);
    indices.pass(to, scope);
  };
  for (const Entry& entry : trace.entries) {
    if (!is_choice(entry)) continue;
    const NodeId next = *network.find(*entry.address);
    go(network.target(next, *entry.address), entry.address->variable->site->scope);
    const auto outputs = scalar.step(next, entry.address->instance, entry.address->variable->index);
    const Node& node = scalar.node();
    result.values +=
        head_distribution(node.value, node.scaling, outputs.data()).log_prob(entry.value);
    p = softmax(scalar.logits(entry.value));
  }
  go({Network::kEnd, {}}, "");
  return result;
}

}  // namespace psn::test
