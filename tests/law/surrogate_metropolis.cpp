// Metropolis-Hastings inside a surrogate has the surrogate's own posterior as its law, though the
// way is drawn anew in every replay: against the density of every trace there is (Eq. 9).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "psn/infer/metropolis.h"
#include "psn/nn/run/evaluate.h"
#include "psn/nn/run/surrogate.h"
#include "tests/law/chain_means.h"
#include "tests/law/network_fixture.h"

namespace psn {
namespace {

using namespace test;

// The values that a choice may have; of an observation the one that was given.
using Domain = std::function<std::vector<double>(const Node&)>;

// Every trace of a network up to a length, with its posterior probability.
class Enumeration {
 public:
  Enumeration(std::shared_ptr<const Network> network, const Domain& domain,
              std::size_t longest = 10)
      : network_(*network), domain_(domain), longest_(longest) {
    Trace trace;
    follow(Network::kBegin, trace);
    const auto compiled = std::make_shared<const CompiledNetwork>(std::move(network));
    probabilities_ = log_prob(compiled, traces_, UnknownEvaluation::kRenormalise);
    double total = 0;
    for (double& p : probabilities_) total += p = std::exp(p);
    for (double& p : probabilities_) p /= total;
  }

  double expectation(const std::function<double(const Trace&)>& f) const {
    double sum = 0;
    for (std::size_t i = 0; i < traces_.size(); ++i) sum += probabilities_[i] * f(traces_[i]);
    return sum;
  }
  const std::vector<Trace>& traces() const { return traces_; }
  const std::vector<double>& probabilities() const { return probabilities_; }

 private:
  void follow(NodeId from, Trace& trace) {
    for (const Place& place : network_.node(from).successors) {
      const NodeId next = place.node;
      if (next == Network::kEnd) {
        traces_.push_back(trace);
        continue;
      }
      if (trace.entries.size() == longest_) continue;
      const Node& node = network_.node(next);
      const Address* address = table_.address(table_.variable({.scope = node.scope,
                                                               .base = node.base,
                                                               .name = node.site_name,
                                                               .type = node.type,
                                                               .index = node.index}),
                                              node.instance);
      for (const double value : domain_(node)) {
        trace.entries.push_back({address, node.role, node.control, false, 0, value, nullptr});
        follow(next, trace);
        trace.entries.pop_back();
      }
    }
  }

  const Network& network_;
  const Domain& domain_;
  std::size_t longest_;
  AddressTable table_;
  std::vector<Trace> traces_;
  std::vector<double> probabilities_;
};

std::string text_of(const Trace& trace) {
  std::string text;
  for (const Entry& e : trace.entries) text += e.address->text + "=" + e.value.text() + " ";
  return text;
}

double value_or(const Trace& trace, const char* name, double otherwise) {
  const Value* value = trace.find(name);
  return value ? value->scalar() : otherwise;
}

// Means of functions of the trace over many chains, each against its exact expectation.
struct Statistic {
  std::string name;
  std::function<double(const Trace&)> f;
};

void expect_law(SurrogateSimulator& simulator, const Observations& data, const Enumeration& exact,
                const std::vector<Statistic>& statistics, MetropolisOptions options) {
  options.chains = kManyChains;
  options.parallelism = {.width = kManyChains, .threads = 1};
  options.burn_in = 200;
  for (const Statistic& s : statistics) {
    options.queries.push_back({s.name, {}, [&s](const Trace& t) { return Value(s.f(t)); }});
  }
  const Posterior chains = metropolis_hastings(simulator, data, options).posterior;
  for (const Statistic& s : statistics) {
    expect_mean_of_chains(chains, s.name, exact.expectation(s.f), 0.02);
  }
}

// Discrete throughout: loops, branches, an uncontrolled choice, an end that comes early. The way
// depends on chance at every step, and a run may miss the site that was chosen.
Model branches() {
  return Model("branches", [](Context& ctx) {
    int total = 0;
    for (int i = 0; i < 2; ++i) {
      const auto c = ctx.sample(Categorical({0.4, 0.3, 0.3}), {.name = "c", .index = i}).integer();
      if (c == 0) break;
      total += c == 2 && ctx.sample(Bernoulli(0.5), {.name = "b", .index = i}) == 1 ? 2 : 1;
    }
    if (total > 1) ctx.sample(Bernoulli(0.4), {.name = "u", .control = false});
    ctx.observe(Poisson(0.5 + total), {.name = "x"});
    if (total == 1) ctx.sample(Bernoulli(0.4), {.name = "late"});
  });
}

TEST(MetropolisInASurrogate, HasTheEnumeratedLaw) {
  const auto network = network_of(branches(), {.config = small_config(), .shake = 0.6});
  const Domain domain = [](const Node& node) -> std::vector<double> {
    if (node.role == Role::kObserve) return {2};
    if (node.value.family == family_of<Categorical>) return {0, 1, 2};
    return {0, 1};
  };
  const Enumeration exact(network, domain);
  ASSERT_GT(exact.traces().size(), 100u);

  std::vector<Statistic> statistics{
      {"length", [](const Trace& t) { return static_cast<double>(t.length()); }},
      {"b", [](const Trace& t) { return value_or(t, "b_0", 0); }},
      {"has b", [](const Trace& t) { return t.find("b_0") ? 1.0 : 0.0; }},
      {"u", [](const Trace& t) { return value_or(t, "u", 0); }},
      {"has u", [](const Trace& t) { return t.find("u") ? 1.0 : 0.0; }},
      {"late", [](const Trace& t) { return value_or(t, "late", 0); }},
      {"c = 2 and no b",
       [](const Trace& t) { return value_or(t, "c_0", 0) == 2 && !t.find("b_0") ? 1.0 : 0.0; }},
      {"b and u", [](const Trace& t) { return value_or(t, "b_0", 0) * value_or(t, "u", 0); }},
      {"last c", [](const Trace& t) { return value_or(t, "c_1", -1); }},
  };
  // And the traces with the most probability, one by one.
  std::vector<std::size_t> order(exact.traces().size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return exact.probabilities()[a] > exact.probabilities()[b];
  });
  for (std::size_t i = 0; i < 20; ++i) {
    const std::string text = text_of(exact.traces()[order[i]]);
    statistics.push_back({text, [text](const Trace& t) { return text_of(t) == text ? 1.0 : 0.0; }});
  }
  SurrogateSimulator simulator("s", network);
  MetropolisOptions options;
  options.samples = 400'000;
  expect_law(simulator, {{"x", Value(2.0)}}, exact, statistics, options);
}

// Observations at latents: traces with their values are all there is.
TEST(MetropolisInASurrogate, HasTheEnumeratedLawGivenLatents) {
  // A chain does not get to ways on which nothing is free to move; this network hardly takes them.
  NetworkConfig config = small_config();
  config.recall = 0;
  const auto network = network_of(branches(), {.config = config, .shake = 0.6});
  const Domain domain = [](const Node& node) -> std::vector<double> {
    if (node.role == Role::kObserve || node.name == "c_0") return {2};
    if (node.name == "u") return {1};
    if (node.value.family == family_of<Categorical>) return {0, 1, 2};
    return {0, 1};
  };
  const Enumeration exact(network, domain);
  const std::vector<Statistic> statistics{
      {"length", [](const Trace& t) { return static_cast<double>(t.length()); }},
      {"b", [](const Trace& t) { return value_or(t, "b_0", 0); }},
      {"has u", [](const Trace& t) { return t.find("u") ? 1.0 : 0.0; }},
      {"late", [](const Trace& t) { return value_or(t, "late", 0); }},
      {"last c", [](const Trace& t) { return value_or(t, "c_1", -1); }},
  };
  SurrogateSimulator simulator("s", network);
  MetropolisOptions options;
  options.samples = 200'000;
  expect_law(simulator, {{"x", Value(2.0)}, {"c_0", Value(2.0)}, {"u", Value(1.0)}}, exact,
             statistics, options);
}

// b and c come in either order, so a surrogate may go around in circles and come to one address
// several times. Longer than 13 is one trace in 100,000.
TEST(MetropolisInASurrogate, HasTheEnumeratedLawWhereAddressesRepeat) {
  const Model model("circles", [](Context& ctx) {
    const auto draw = [&](const char* name) { ctx.sample(Bernoulli(0.5), {.name = name}); };
    const bool a = ctx.sample(Bernoulli(0.5), {.name = "a"}) == 1;
    draw(a ? "b" : "c");
    if (ctx.sample(Bernoulli(0.5), {.name = "both"}) == 1) draw(a ? "c" : "b");
    ctx.observe(Bernoulli(0.3), {.name = "x"});
  });
  const auto network = network_of(model, {.config = small_config(), .shake = 0.3});
  const Domain domain = [](const Node& node) -> std::vector<double> {
    if (node.role == Role::kObserve) return {1};
    return {0, 1};
  };
  const Enumeration exact(network, domain, 13);
  const auto visits = [](const Trace& t, const char* name) {
    return static_cast<double>(
        std::count_if(t.entries.begin(), t.entries.end(),
                      [&](const Entry& e) { return e.address->name() == name; }));
  };
  const std::vector<Statistic> statistics{
      {"length", [](const Trace& t) { return static_cast<double>(t.length()); }},
      {"a", [](const Trace& t) { return value_or(t, "a", 0); }},
      {"last b", [](const Trace& t) { return value_or(t, "b", 0); }},
      {"last c", [](const Trace& t) { return value_or(t, "c", 0); }},
      {"last both", [](const Trace& t) { return value_or(t, "both", 0); }},
      {"visits to b", [&](const Trace& t) { return visits(t, "b"); }},
      {"several visits to b", [&](const Trace& t) { return visits(t, "b") > 1 ? 1.0 : 0.0; }},
      {"last b after several visits",
       [&](const Trace& t) { return visits(t, "b") > 1 ? t["b"].scalar() : 0.0; }},
      {"several visits to both", [&](const Trace& t) { return visits(t, "both") > 1 ? 1.0 : 0.0; }},
  };
  ASSERT_GT(exact.expectation(statistics[6].f), 0.02);
  SurrogateSimulator simulator("s", network);
  MetropolisOptions options;
  options.samples = 400'000;
  expect_law(simulator, {{"x", Value(1.0)}}, exact, statistics, options);
}

// Continuous: z is reached by several ways, with a scale that differs between them, and the way may
// change while z takes a step of a random walk.
TEST(MetropolisInASurrogate, RandomWalksHaveTheEnumeratedLaw) {
  const Model model("ways", [](Context& ctx) {
    const bool wide = ctx.sample(Bernoulli(0.5), {.name = "wide"}) == 1;
    if (wide) ctx.sample(Bernoulli(0.5), {.name = "extra"});
    const auto z = ctx.sample(Normal(0, wide ? 2 : 0.5), {.name = "z"}).scalar();
    ctx.observe(Normal(z, 1), {.name = "x"});
  });
  const auto network = network_of(model, {.config = small_config(), .shake = 0.3, .seed = 6});
  // Its scale depends on the way by more than random weights would have it.
  NodeId z = Network::kEnd;
  while (network->node(z).name != "z") ++z;
  const BlockId last = network->node(z).value_layers.back();
  const std::size_t columns = network->parameters().block(last).columns;
  float* scale_row = network->parameters().values(last) + columns;
  for (std::size_t j = 0; j < columns; ++j) scale_row[j] *= 4;
  constexpr double kStep = 0.02, kEnd = 15;
  const Domain domain = [](const Node& node) -> std::vector<double> {
    if (node.role == Role::kObserve) return {1};
    if (node.value.family == family_of<Bernoulli>) return {0, 1};
    std::vector<double> grid;
    for (double at = kStep / 2 - kEnd; at < kEnd; at += kStep) grid.push_back(at);
    return grid;
  };
  const Enumeration exact(network, domain);
  const auto conditional_sd = [&](bool extra) {
    const auto moment = [&](int k) {
      return exact.expectation([&](const Trace& t) {
        return (t.find("extra") != nullptr) == extra ? std::pow(t["z"].scalar(), k) : 0.0;
      });
    };
    const double mean = moment(1) / moment(0);
    return std::sqrt(moment(2) / moment(0) - mean * mean);
  };
  const double ratio = conditional_sd(true) / conditional_sd(false);
  ASSERT_GT(std::max(ratio, 1 / ratio), 1.3) << "the ways are too much alike for this test";

  const std::vector<Statistic> statistics{
      {"wide", [](const Trace& t) { return t["wide"].scalar(); }},
      {"has extra", [](const Trace& t) { return t.find("extra") ? 1.0 : 0.0; }},
      {"z", [](const Trace& t) { return t["z"].scalar(); }},
      {"|z|", [](const Trace& t) { return std::abs(t["z"].scalar()); }},
      {"z beyond 1", [](const Trace& t) { return t["z"].scalar() > 1 ? 1.0 : 0.0; }},
      {"z near 0", [](const Trace& t) { return std::abs(t["z"].scalar()) < 0.3 ? 1.0 : 0.0; }},
      {"z on the long way", [](const Trace& t) { return t.find("extra") ? t["z"].scalar() : 0.0; }},
      {"|z| on the long way",
       [](const Trace& t) { return t.find("extra") ? std::abs(t["z"].scalar()) : 0.0; }},
  };
  SurrogateSimulator simulator("s", network);
  for (const double prior_share : {0.02, 1.0}) {
    MetropolisOptions options;
    options.samples = 400'000;
    options.random_walk = true;
    options.prior_share = prior_share;
    options.step = 1;
    expect_law(simulator, {{"x", Value(1.0)}}, exact, statistics, options);
  }
}

}  // namespace
}  // namespace psn
