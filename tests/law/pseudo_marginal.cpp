// Pseudo-marginal chains have the posterior's law however noisy their estimates are, and whatever
// the surrogate is that they move in: against exact answers, with a surrogate that was trained,
// with one of random weights, and with none.
#include "psn/infer/pseudo_marginal.h"

#include <gtest/gtest.h>

#include <cmath>

#include "experiments/control_flow/control_flow.h"
#include "experiments/reference/reference.h"
#include "psn/base/error.h"
#include "psn/nn/run/surrogate.h"
#include "tests/law/chain_means.h"
#include "tests/law/enumerated_program.h"
#include "tests/law/exact_answers.h"
#include "tests/law/inference_fixture.h"
#include "tests/law/network_fixture.h"

namespace psn {
namespace {

using namespace test;

enum class Inside { kNothing, kBad, kGood };

// A simulator, and a surrogate of it.
struct Marginal {
  Marginal(Model model, Inside inside, Observations observed)
      : simulator(model), data(std::move(observed)) {
    if (inside == Inside::kNothing) return;
    std::shared_ptr<const Network> network;
    if (inside == Inside::kBad) {
      network = network_of(model, {.config = small_config(), .traces = 300, .shake = 0.4});
    } else {
      InProcess own(model);
      network = train(own, Purpose::kSurrogate, 10'000);
    }
    surrogate.emplace("s", network, SurrogateOptions{.addresses = &simulator.addresses()});
  }

  MarginalResult run(MarginalOptions options) {
    options.surrogate = surrogate ? &*surrogate : nullptr;
    return pseudo_marginal(simulator, data, options);
  }

  InProcess simulator;
  Observations data;
  std::optional<SurrogateSimulator> surrogate;
};

MarginalOptions marginal_options(std::uint64_t samples, std::vector<std::string> parameters) {
  MarginalOptions options;
  options.samples = samples;
  options.chains = kManyChains;
  options.burn_in = 100;
  options.parameters = std::move(parameters);
  options.seed = 6;
  options.parallelism = {64, 2};
  options.most_moves = 8;
  options.most_runs = 40;
  return options;
}

// Nuisance before the parameters and after them, some of it nobody's, and a loop.
Model nuisances() {
  return Model("nuisances", [](Context& ctx) {
    const double before = ctx.sample(Bernoulli(0.3), {.name = "before"});
    const auto kind = ctx.sample(Categorical({0.5, 0.3, 0.2}), {.name = "kind"}).integer();
    const double on = ctx.sample(Bernoulli(kind == 1 ? 0.7 : 0.2), {.name = "on"});
    double total = static_cast<double>(kind) + before;
    for (int i = 0; i < 3; ++i) {
      if (ctx.sample(Bernoulli(0.2 + 0.5 * on), {.name = "more", .index = i}) == 0) break;
      total += 1 + ctx.sample(Bernoulli(0.5), {.name = "u", .control = false}).scalar();
    }
    ctx.observe(Poisson(0.3 + total), {.name = "x"});
    ctx.observe(Normal(total, 1), {.name = "unseen"});
  });
}

struct MarginalStatistic {
  std::string name;
  std::function<double(const EnumeratedProgram::Values&)> f;
};
double among(const EnumeratedProgram::Values& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? 0 : found->second;
}
const std::vector<MarginalStatistic> kMarginalStatistics{
    {"kind", [](const auto& v) { return among(v, "kind"); }},
    {"kind is 1", [](const auto& v) { return among(v, "kind") == 1 ? 1.0 : 0.0; }},
    {"on", [](const auto& v) { return among(v, "on"); }},
    {"before", [](const auto& v) { return among(v, "before"); }},
    {"u", [](const auto& v) { return among(v, "u"); }},
    {"choices", [](const auto& v) { return static_cast<double>(v.size()); }},
};

void expect_marginal_law(Inside inside, MarginalOptions options) {
  const Observations data{{"x", Value(4.0)}};
  const EnumeratedProgram exact(nuisances(), data);
  Marginal marginal(nuisances(), inside, data);
  for (const MarginalStatistic& s : kMarginalStatistics) {
    options.queries.push_back({s.name, {}, [&s](const Trace& t) {
                                 EnumeratedProgram::Values values;
                                 for (const Entry& e : t.entries) {
                                   if (e.role != Role::kSample) continue;
                                   values[std::string(e.address->name())] = e.value.scalar();
                                 }
                                 return Value(s.f(values));
                               }});
  }
  const MarginalResult result = marginal.run(options);
  EXPECT_GT(result.acceptance, 0.02);
  for (const MarginalStatistic& s : kMarginalStatistics) {
    expect_mean_of_chains(result.posterior, s.name, exact.expectation(s.f), 0.08);
  }
}

TEST(PseudoMarginal, HasTheEnumeratedLaw) {
  MarginalOptions options = marginal_options(64 * 2'000, {"kind", "on"});
  expect_marginal_law(Inside::kNothing, options);
}

// With an estimate of one run, the noisiest that there is; and with many proposals of the prior.
TEST(PseudoMarginal, HasItWithEstimatesOfOneRun) {
  MarginalOptions options = marginal_options(64 * 2'000, {"kind", "on"});
  options.most_runs = 1;
  options.fresh_share = 0.5;
  expect_marginal_law(Inside::kNothing, options);
}

TEST(PseudoMarginal, HasItInsideABadSurrogate) {
  expect_marginal_law(Inside::kBad, marginal_options(64 * 600, {"kind", "on"}));
}

TEST(PseudoMarginal, HasItInsideAGoodSurrogate) {
  expect_marginal_law(Inside::kGood, marginal_options(64 * 600, {"kind", "on"}));
}

// What is not among the parameters is of the posterior as well.
TEST(PseudoMarginal, MovesOneParameterOfSeveral) {
  MarginalOptions options = marginal_options(64 * 600, {"on"});
  options.fresh_share = 0;  // its prior depends on `kind`, which is drawn anew for each estimate
  expect_marginal_law(Inside::kBad, options);
}

// A real, a positive and a bounded parameter, each with nuisance between it and the data.
TEST(PseudoMarginal, IsTheExactPosteriorOfContinuousParameters) {
  const Model model("continuous", [](Context& ctx) {
    const double mu = ctx.sample(Normal(0, 2), {.name = "mu"});
    const double rate = ctx.sample(Gamma(2, 1), {.name = "rate"});
    const double share = ctx.sample(Beta(2, 2), {.name = "share"});
    const double between = ctx.sample(Normal(mu, 1), {.name = "between"});
    const double twice = ctx.sample(Bernoulli(share), {.name = "twice"});
    ctx.observe(Normal(between, 1), {.name = "y"});
    ctx.observe(Poisson(rate * (1 + twice)), {.name = "n"});
  });
  // rate and share depend on each other by the data: quadrature.
  double sum = 0, rate = 0, rates = 0, share = 0, shares = 0;
  constexpr int kCells = 600;
  for (int i = 0; i < kCells; ++i) {
    const double r = 20.0 * (i + 0.5) / kCells;
    const double prior = Distribution(Gamma(2, 1)).log_prob(r);
    const double once = std::exp(prior + Distribution(Poisson(r)).log_prob(5.0));
    const double twice = std::exp(prior + Distribution(Poisson(2 * r)).log_prob(5.0));
    for (int j = 0; j < kCells; ++j) {
      const double s = (j + 0.5) / kCells;
      const double p =
          std::exp(Distribution(Beta(2, 2)).log_prob(s)) * (s * twice + (1 - s) * once);
      sum += p;
      rate += p * r;
      rates += p * r * r;
      share += p * s;
      shares += p * s * s;
    }
  }
  const auto sd = [&](double mean, double square) {
    return std::sqrt(square / sum - mean * mean / (sum * sum));
  };
  for (const Inside inside : {Inside::kNothing, Inside::kBad}) {
    Marginal marginal(model, inside, {{"y", Value(3.0)}, {"n", Value(5.0)}});
    MarginalOptions options = marginal_options(64 * 700, {"mu", "rate", "share"});
    options.queries = {{"mu"}, {"rate"}, {"share"}};
    const MarginalResult result = marginal.run(options);
    // y given mu has variance 2.
    expect_moments(result.posterior, "mu", 3.0 * 4 / 6, std::sqrt(4.0 * 2 / 6));
    expect_moments(result.posterior, "rate", rate / sum, sd(rate, rates), 4);
    expect_moments(result.posterior, "share", share / sum, sd(share, shares));
  }
}

// Steps in whole numbers, and branches that decide which nuisance there is.
TEST(PseudoMarginal, IsTheExactPosteriorOfBranching) {
  for (const Inside inside : {Inside::kNothing, Inside::kBad}) {
    Marginal marginal(reference::branching(), inside, {{"obs", Value(6.0)}});
    MarginalOptions options = marginal_options(64 * 600, {"count"});
    options.queries = {{"count"}, {"extra"}};
    expect_branching(marginal.run(options).posterior, branching_answer());
  }
}

TEST(PseudoMarginal, IsTheExactPosteriorOfControlFlow) {
  const control_flow::ExactPosterior exact(5);
  for (const Inside inside : {Inside::kNothing, Inside::kGood}) {
    Marginal marginal(control_flow::model(), inside, {{"x", Value(5.0)}});
    MarginalOptions options = marginal_options(64 * 150, {"theta"});
    options.most_runs = 10;
    options.queries = {{"theta"}};
    options.seed = 8;  // a run with theta near 0 takes for ever
    expect_moments(marginal.run(options).posterior, "theta", exact.mean(), exact.sd());
  }
}

std::vector<double> numbers_of(const MarginalResult& result) {
  std::vector<double> all = result.posterior.column("choices").data;
  all.insert(all.end(), {result.acceptance, result.variance, result.moves, result.runs,
                         static_cast<double>(result.longest_stay)});
  return all;
}

MarginalOptions short_marginal(Parallelism parallelism) {
  MarginalOptions options = marginal_options(420, {"kind", "on"});
  options.queries = {
      {"choices", {}, [](const Trace& t) { return Value(static_cast<double>(t.length())); }}};
  options.chains = 7;
  options.burn_in = 30;
  options.parallelism = parallelism;
  return options;
}

TEST(PseudoMarginal, DependsOnNeitherWidthNorThreads) {
  for (const Inside inside : {Inside::kNothing, Inside::kBad}) {
    std::vector<double> expected;
    for (const Parallelism p : {Parallelism{1, 1}, {7, 1}, {5, 2}}) {
      Marginal marginal(nuisances(), inside, {{"x", Value(4.0)}});
      const std::vector<double> all = numbers_of(marginal.run(short_marginal(p)));
      if (expected.empty()) expected = all;
      EXPECT_EQ(all, expected);
    }
  }
}

// Stopped again and again, and gone on with in another process's stead: the same to the bit.
TEST(PseudoMarginal, GoesOnToTheResultOfOneRun) {
  for (const Inside inside : {Inside::kNothing, Inside::kBad}) {
    const Observations data{{"x", Value(4.0)}};
    Marginal whole(nuisances(), inside, data);
    const std::vector<double> expected = numbers_of(whole.run(short_marginal({1, 1})));
    std::optional<std::string> kept;
    for (int stops = 0;; ++stops) {
      ASSERT_LT(stops, 100);
      Monitor monitor;
      std::atomic<int> left = 1 << 30;
      Model stopping = nuisances();
      stopping.program = [&, program = stopping.program](Context& ctx) {
        if (--left == 0) monitor.stop.store(true);
        return program(ctx);
      };
      Marginal part(stopping, inside, data);
      std::optional<EngineState> begun;
      if (kept) {
        begun = EngineState::from_file(
            TensorFile::parse(*kept, "kept", EngineState::kKind, EngineState::kVersion),
            part.simulator.addresses(), "kept");
      }
      MarginalOptions options = short_marginal({3, 1});
      EngineWindow window;
      options.monitor = &monitor;
      options.window = &window;
      options.resume = begun ? &*begun : nullptr;
      left = 300;
      try {
        EXPECT_EQ(numbers_of(part.run(options)), expected);
        EXPECT_GE(stops, 2);
        break;
      } catch (const Interrupted&) {
        kept = window.look()->to_file().serialize();
      }
    }
  }
}

TEST(PseudoMarginal, RefusesParametersThatAreNone) {
  const auto run = [](const Model& model, std::vector<std::string> names, double fresh = 0.05) {
    Marginal marginal(model, Inside::kNothing, {{"x", Value(1.0)}});
    MarginalOptions options = marginal_options(640, std::move(names));
    options.fresh_share = fresh;
    return marginal.run(options).acceptance;
  };
  EXPECT_THROW(run(nuisances(), {"more_1"}), ModelError);  // not in every run
  EXPECT_THROW(run(nuisances(), {"u"}), ModelError);       // nobody's
  const Model depends("depends", [](Context& ctx) {
    const double before = ctx.sample(Normal(0, 1), {.name = "before"});
    ctx.observe(Normal(ctx.sample(Normal(before, 1), {.name = "after"}).scalar(), 1),
                {.name = "x"});
  });
  EXPECT_THROW(run(depends, {"after"}), ModelError);
  EXPECT_GT(run(depends, {"after"}, 0), 0);
  const Model simplex("simplex", [](Context& ctx) {
    const Value p = ctx.sample(Dirichlet(Value{1, 1}), {.name = "p"});
    ctx.observe(Normal(p[0], 1), {.name = "x"});
  });
  EXPECT_THROW(run(simplex, {"p"}), InvalidArgument);
}

}  // namespace
}  // namespace psn
