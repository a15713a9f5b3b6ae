// Gradients against finite differences: of every family's head, and of every block of the network.
#include <gtest/gtest.h>

#include <cmath>

#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/train/gradient.h"
#include "psn/train/growth.h"
#include "psn/train/stream.h"

namespace psn {
namespace {

struct HeadCase {
  const char* name;
  Distribution p;
  Value x;
};

std::vector<HeadCase> head_cases() {
  std::vector<HeadCase> cases;
  const auto add = [&](const char* name, Distribution p, Value x) {
    cases.push_back({name, std::move(p), std::move(x)});
  };
  add("normal", Normal(1.5, 0.7), 2.0);
  add("normal far from zero", Normal(1e6, 0.01), 1e6 + 0.02);
  add("normal vector", Normal(Value{1, 2}, Value{0.5, 1.5}), Value{0.5, 3});
  add("log normal", LogNormal(0.3, 0.6), 1.7);
  add("poisson", Poisson(4.2), 6.0);
  add("bernoulli", Bernoulli(0.3), 1.0);
  add("beta", Beta(2, 5), 0.35);
  add("exponential", Exponential(2.5), 0.6);
  add("gamma", Gamma(3.0, 2.0), 1.1);
  add("binomial", Binomial(10, 0.4), 3.0);
  add("weibull", Weibull(1.5, 2.0), 1.2);
  add("truncated normal", TruncatedNormal(0.5, 1.0, -1.0, 2.0), 0.9);
  add("student t", StudentT(4, 1.5, 0.7), 2.0);
  add("student t vector", StudentT(Value{3, 9}, 1, Value{0.5, 1.5}), Value{0.5, 30});
  add("negative binomial", NegativeBinomial(4.2, 1.5), 6.0);
  add("no count", NegativeBinomial(0.5, 20), 0.0);
  add("geometric", Geometric(0.3), 4.0);
  add("laplace", Laplace(1.5, 0.7), 2.0);
  add("laplace vector", Laplace(Value{1, 2}, Value{0.5, 1.5}), Value{0.5, 3});
  add("dirichlet", Dirichlet({0.6, 2, 3.5}), Value{0.1, 0.3, 0.6});
  add("multivariate normal",
      MultivariateNormal({1, 2, -1}, Value({1, 0.5, 0.2, 0.5, 2, -0.3, 0.2, -0.3, 0.5}, {3, 3})),
      Value{0.5, 3, -2});
  add("multivariate normal far from zero",
      MultivariateNormal({1e6, -1e6}, Value({1e-4, 5e-5, 5e-5, 1e-4}, {2, 2})),
      Value{1e6 + 0.02, -1e6});
  add("categorical", Categorical({0.2, 0.5, 0.3}), 2.0);
  add("categorical rows", Categorical(Value({0.2, 0.8, 0.6, 0.4}, {2, 2})), Value{1, 0});
  add("uniform", Uniform(-1, 3), 0.5);
  add("mixture", Mixture(Value{0.3, 0.7}, {Normal(-1, 0.5), Normal(2, 1)}), 0.4);
  add("mixture of vectors",
      Mixture(Value{0.5, 0.5}, {Normal(Value{0, 1}, 0.5), Normal(Value{2, 2}, 1)}), Value{0.4, 1});
  return cases;
}

class Heads : public testing::TestWithParam<HeadCase> {
 protected:
  void SetUp() override {
    const auto& [name, p, x] = GetParam();
    type_ = {p.family(), p.shape(), static_cast<std::uint32_t>(p.categories()),
             p.family() == family_of<Mixture> ? 3u : 0u};
    ScalingEstimator estimator;
    estimator.add({x, p}, 0);
    scaling_.location.assign(type_.components(), 0);
    scaling_.scale.assign(type_.components(), 1);
    scaling_ = estimator.fit(scaling_);
    scaling_.low = estimator.bounds().low;
    scaling_.high = estimator.bounds().high;
    Rng rng(7);
    for (std::size_t i = 0; i < type_.outputs(); ++i) {
      outputs_.push_back(static_cast<float>(0.5 * rng.normal()));
    }
  }

  void expect_gradient(const Distribution* p) {
    const Value& x = GetParam().x;
    std::vector<float> gradient(outputs_.size());
    head_loss(type_, scaling_, outputs_.data(), x, p, gradient.data());
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const auto loss_at = [&](float o) {
        std::vector<float> moved = outputs_;
        moved[i] = o;
        return head_loss(type_, scaling_, moved.data(), x, p, nullptr).loss;
      };
      const float high = outputs_[i] + 1e-3f, low = outputs_[i] - 1e-3f;
      const double expected = (loss_at(high) - loss_at(low)) / (double{high} - low);
      EXPECT_NEAR(gradient[i], expected, 1e-4 * (1 + std::abs(expected))) << "output " << i;
    }
  }

  ValueType type_;
  Scaling scaling_;
  std::vector<float> outputs_;
};

TEST_P(Heads, LogProbIsThatOfTheirDistribution) {
  const Distribution s = head_distribution(type_, scaling_, outputs_.data());
  ASSERT_TRUE(s.valid()) << s.text();
  const double expected = s.log_prob(GetParam().x);
  const HeadLoss loss = head_loss(type_, scaling_, outputs_.data(), GetParam().x, nullptr, nullptr);
  EXPECT_NEAR(loss.log_prob, expected, 1e-6 * (1 + std::abs(expected)));
}

TEST_P(Heads, LikelihoodGradient) {
  expect_gradient(nullptr);
}
TEST_P(Heads, DivergenceGradient) {
  expect_gradient(&GetParam().p);
}

TEST_P(Heads, GradientWhenBoundsVary) {
  if (type_.family != family_of<Uniform>) return;
  scaling_.bounds_vary = true;
  scaling_.low -= 1;
  scaling_.high += 2;
  expect_gradient(&GetParam().p);
  const Distribution s = head_distribution(type_, scaling_, outputs_.data());
  EXPECT_NEAR(head_loss(type_, scaling_, outputs_.data(), GetParam().x, nullptr, nullptr).log_prob,
              s.log_prob(GetParam().x), 1e-8);
}

// With the closed form, the gradient vanishes on average where s = p: E over x of the likelihood's
// gradient is the divergence's gradient.
TEST_P(Heads, DivergenceGradientIsTheMeanLikelihoodGradient) {
  const Distribution& p = GetParam().p;
  // These have no closed form.
  if (type_.family == family_of<Uniform> || type_.family == family_of<Mixture> ||
      type_.family == family_of<Weibull> || type_.family == family_of<StudentT> ||
      type_.family == family_of<NegativeBinomial>) {
    return;
  }
  std::vector<float> exact(outputs_.size()), one(outputs_.size());
  head_loss(type_, scaling_, outputs_.data(), GetParam().x, &p, exact.data());
  std::vector<double> sum(outputs_.size()), squares(outputs_.size());
  constexpr int kDraws = 20000;
  Rng rng(11);
  for (int i = 0; i < kDraws; ++i) {
    head_loss(type_, scaling_, outputs_.data(), p.draw(rng), nullptr, one.data());
    for (std::size_t k = 0; k < one.size(); ++k) {
      sum[k] += one[k];
      squares[k] += double{one[k]} * one[k];
    }
  }
  for (std::size_t k = 0; k < one.size(); ++k) {
    const double mean = sum[k] / kDraws;
    const double error = std::sqrt(std::max(0.0, squares[k] / kDraws - mean * mean) / kDraws);
    EXPECT_NEAR(exact[k], mean, 5 * error + 1e-6) << "output " << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Heads, testing::ValuesIn(head_cases()), [](const auto& test) {
  std::string name = test.param.name;
  for (char& c : name) c = c == ' ' ? '_' : c;
  return name;
});

// A program with branches, a loop over one address, several families, and a vector.
Value zoo(Context& ctx) {
  const double a = ctx.sample(Normal(0, 1), {.name = "a"});
  const auto v = ctx.sample(Normal(Value{a, 1}, Value{1, 2}), {.name = "v"});
  const auto branch = ctx.sample(Categorical({0.3, 0.4, 0.3}), {.name = "branch"});
  ctx.tag(a, {.name = "a tag"});
  if (branch.integer() == 0) return a;  // sometimes last
  for (int i = 0; i < 3; ++i) {
    const auto go_on = ctx.sample(Bernoulli(0.6), {.name = "again"});
    if (branch.integer() == 1) ctx.sample(Gamma(2, 1 + a * a), {.name = "g"});
    if (go_on.integer() == 0) break;
  }
  ctx.sample(Mixture(Value{0.5, 0.5}, {Normal(-1, 1), Normal(1, 1)}), {.name = "m"});
  ctx.observe(Beta(2, 1 + v[0] * v[0]), {.name = "x"});
  return a;
}

// The same with arrays to observe, for the convolutions of an inference network.
Value zoo_with_pictures(Context& ctx) {
  const double a = zoo(ctx);
  ctx.sample(Uniform(Value{-1, a - 3, 0}, Value{1, a + 1, 5}), {.name = "u"});
  ctx.observe(Normal(Value(std::vector<double>(12, a), {4, 3}), 1), {.name = "picture"});
  if (a > 0) ctx.observe(Normal(Value(std::vector<double>(18, a), {3, 3, 2}), 1), {.name = "cube"});
  for (int i = 3; i > a; --i) ctx.observe(Normal(Value{a, 2}, 1), {.name = "list", .index = i});
  return a;
}

std::vector<Trace> traces_of(Simulator& simulator, std::size_t count) {
  TraceStream stream(simulator, {.seed = 5, .count = count});
  std::vector<Trace> traces;
  stream.take(count, traces);
  return traces;
}

struct NetworkCase {
  Addressing addressing;
  std::size_t depth;
  Loss loss;
  Purpose purpose = Purpose::kSurrogate;
  std::string_view core = "lstm";
  bool tally = false;
  bool ours = false;  // what the default recipe has beside the paper's inference network
};

// Every kind of source and of form, of sites that zoo() visits once or several times.
TallyPlan zoo_plan() {
  const TallyType two{TallyKind::kCategories, 2}, three{TallyKind::kCategories, 3};
  const TallyType number{TallyKind::kNumber, 0};
  const std::string again = "again__Bernoulli", g = "g__Gamma", a = "a__Normal";
  return {{{SourceKind::kSite,
            again,
            "",
            "",
            0,
            two,
            {{Measure::kVisits, 0, Form::kLogarithm},
             {Measure::kDifference, difference_of(2, 0), Form::kCosine, 0, 4},
             {Measure::kDifference, difference_of(2, 0), Form::kSine, 0, 8}}},
           {SourceKind::kSite,
            "branch__Categorical(len_probs:3)",
            "",
            "",
            0,
            three,
            {{Measure::kCount, 2, Form::kLinear}}},
           {SourceKind::kSite,
            g,
            "",
            "",
            0,
            number,
            {{Measure::kSum, 0, Form::kLinear, 0, 2},
             {Measure::kLast, 0, Form::kRamp, 1, 0.7},
             {Measure::kSeen}}},
           {SourceKind::kPair, g, a, "", 0, number, {{Measure::kFall, 0, Form::kLinear, 0, 2}}},
           {SourceKind::kSteps, g, again, "", 1.5, number, {{Measure::kSum}}},
           {SourceKind::kSince, again, g, "", 0, two, {{Measure::kCount, 1, Form::kLinear}}},
           {SourceKind::kWindows, again, "m__Mixture", g, 1, two, {{Measure::kCount, 1}}}}};
}

class Blocks : public testing::TestWithParam<NetworkCase> {};

TEST_P(Blocks, FiniteDifferences) {
  const bool infers = GetParam().purpose == Purpose::kInference;
  InProcess simulator({"zoo", infers ? zoo_with_pictures : zoo});
  const std::vector<Trace> traces = traces_of(simulator, 12);
  NetworkConfig config;
  config.purpose = GetParam().purpose;
  config.observation_layers = {.num_layers = 2, .hidden_dim = 3, .channels = 2, .skip = 12};
  config.addressing = GetParam().addressing;
  config.core = GetParam().core;
  config.core_depth = GetParam().depth;
  config.attention_heads = 2;
  config.core_dim = 5;
  config.sample_embedding_dim = 3;
  config.address_embedding_dim = 2;
  config.distribution_type_embedding_dim = 2;
  config.transition_hidden_dim = 4;
  config.variable_layers = {2, 4};
  config.mixture_components = 2;
  config.tally = GetParam().tally;
  config.recall = GetParam().tally || GetParam().depth > 1 ? 2 : 0;
  config.sequential_proposals = config.compress_tails = GetParam().ours;
  config.observation_context = GetParam().ours ? 3 : 0;
  if (GetParam().ours) {
    config.observe_embedding["list"] = config.observation_layers;
    config.observe_embedding["list"].shared = true;
  }
  Network network(config, 3);
  if (config.tally) network.set_tally(zoo_plan());
  Growth growth(network);
  growth.absorb(traces);
  Parameters& p = network.parameters();
  Rng rng(9);
  for (BlockId id = 0; id < p.block_count(); ++id) {  // no zeros and ties
    for (std::size_t i = 0; i < std::size_t{p.block(id).rows} * p.block(id).columns; ++i) {
      p.values(id)[i] += static_cast<float>(0.3 * rng.normal());
    }
  }
  const Batch batch = growth.flatten(traces);
  Gradient gradient(network), probe(network);
  gradient.compute(batch, GetParam().loss);
  // compute() of another instance would overwrite the gradients: keep them.
  std::vector<std::vector<float>> kept;
  for (BlockId id = 0; id < p.block_count(); ++id) {
    const auto n = std::size_t{p.block(id).rows} * p.block(id).columns;
    kept.emplace_back(p.gradients(id), p.gradients(id) + n);
  }
  std::size_t checked = 0, kinks = 0;
  for (BlockId id = 0; id < p.block_count(); ++id) {
    for (std::size_t i = 0; i < kept[id].size(); ++i) {
      const float value = p.values(id)[i];
      const auto slope = [&](float by) {
        p.values(id)[i] = value + by;
        const double high = probe.compute(batch, GetParam().loss).loss;
        const double at_high = p.values(id)[i];
        p.values(id)[i] = value - by;
        const double low = probe.compute(batch, GetParam().loss).loss;
        const double width = at_high - p.values(id)[i];
        p.values(id)[i] = value;
        return (high - low) / width;
      };
      // Wide enough for single precision; the error of second order is extrapolated away.
      const double wide = slope(3e-2f), narrow = slope(1.5e-2f);
      const double expected = (4 * narrow - wide) / 3;
      const double tolerance = 1e-2 * (1 + std::abs(expected)) + 0.1 * std::abs(wide - narrow);
      ++checked;
      if (std::abs(kept[id][i] - expected) <= tolerance) continue;
      // A ReLU's kink within the interval: the slopes of its two sides differ.
      const auto loss_at = [&](float by) {
        p.values(id)[i] = value + by;
        const double loss = probe.compute(batch, GetParam().loss).loss;
        p.values(id)[i] = value;
        return loss;
      };
      const double here = loss_at(0), slack = 1e-2 * (1 + std::abs(expected));
      const auto between_sides = [&](float by) {
        const double right = (loss_at(by) - here) / by, left = (here - loss_at(-by)) / by;
        return kept[id][i] >= std::min(left, right) - slack &&
               kept[id][i] <= std::max(left, right) + slack;
      };
      ++kinks;
      if (between_sides(1e-2f) || between_sides(2e-3f) || between_sides(5e-4f)) continue;
      ADD_FAILURE() << "block " << id << " (" << p.block(id).rows << " x " << p.block(id).columns
                    << ") element " << i << ": " << kept[id][i] << " instead of " << expected;
      return;
    }
  }
  EXPECT_EQ(checked, p.size());
  EXPECT_LE(kinks, checked / 50);
}

std::vector<NetworkCase> network_cases() {
  std::vector<NetworkCase> cases{
      {Addressing::kInstance, 1, Loss::kNegativeLogLikelihood},
      {Addressing::kInstance, 2, Loss::kDivergence},
      {Addressing::kSite, 1, Loss::kDivergence},
      {Addressing::kSite, 3, Loss::kNegativeLogLikelihood},
      {Addressing::kInstance, 1, Loss::kNegativeLogLikelihood, Purpose::kInference}};
  cases.push_back(
      {Addressing::kInstance, 1, Loss::kNegativeLogLikelihood, Purpose::kSurrogate, "lstm", true});
  for (const std::string_view core : core_names()) {
    cases.push_back({Addressing::kShared, 1, Loss::kDivergence, Purpose::kSurrogate, core});
    cases.push_back({Addressing::kShared, 1, Loss::kDivergence, Purpose::kSurrogate, core, true});
    cases.push_back(
        {Addressing::kSite, 2, Loss::kNegativeLogLikelihood, Purpose::kInference, core});
  }
  cases.push_back({Addressing::kSite, 1, Loss::kNegativeLogLikelihood, Purpose::kInference, "lstm",
                   false, true});
  cases.push_back({Addressing::kShared, 1, Loss::kNegativeLogLikelihood, Purpose::kInference,
                   "lstm", false, true});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Networks, Blocks, testing::ValuesIn(network_cases()));

TEST(Batches, FactorsCannotBeLearned) {
  InProcess simulator({"factor", [](Context& ctx) {
                         ctx.factor(-1.0, {.name = "f"});
                         return Value(0.0);
                       }});
  const std::vector<Trace> traces = traces_of(simulator, 1);
  Network network({}, 1);
  EXPECT_THROW(Growth(network).absorb(traces), InvalidArgument);
}

TEST(Batches, RowsFollowTheTraces) {
  InProcess simulator({"zoo", zoo});
  const std::vector<Trace> traces = traces_of(simulator, 50);
  Network network({}, 1);
  Growth growth(network);
  growth.absorb(traces);
  const Batch batch = growth.flatten(traces);
  ASSERT_EQ(batch.traces(), traces.size());
  std::size_t rows = 0;
  for (std::uint32_t at = 0; at < batch.traces(); ++at) {
    const Trace& trace = traces[batch.trace[at]];
    EXPECT_NEAR(batch.log_p[at], trace.log_joint, 1e-12);
    std::size_t step = 0;
    for (const Entry& entry : trace.entries) {
      if (entry.role == Role::kTag) continue;
      ASSERT_LT(at, batch.width(step));
      const std::uint32_t row = batch.first[step++] + at;
      EXPECT_EQ(batch.entry[row], &entry);
      EXPECT_EQ(batch.node[row], *network.find(*entry.address));
    }
    rows += step;
  }
  EXPECT_EQ(rows, batch.rows());
  for (const auto& segment : batch.segments) {
    for (std::uint32_t place = segment.begin; place < segment.end; ++place) {
      EXPECT_EQ(batch.node[batch.order[place]], segment.node);
    }
  }
}

TEST(Batches, AProgramWithoutChoices) {
  InProcess simulator({"nothing", [](Context&) { return Value(1.0); }});
  const std::vector<Trace> traces = traces_of(simulator, 4);
  Network network({}, 1);
  Growth growth(network);
  growth.absorb(traces);
  Gradient gradient(network);
  EXPECT_NEAR(gradient.compute(growth.flatten(traces), Loss::kDivergence).log_prob, std::log(0.5),
              1e-6);
}

}  // namespace
}  // namespace psn
