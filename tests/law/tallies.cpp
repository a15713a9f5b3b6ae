// What the runtime counts for a surrogate: by hand, as it is fitted, and that nothing known changes
// when it comes into a network or the network grows after that.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>

#include "psn/base/error.h"
#include "psn/nn/run/evaluate.h"
#include "psn/nn/run/surrogate.h"
#include "psn/train/gradient.h"
#include "psn/train/trainer.h"
#include "tests/law/unknown_traces.h"

namespace psn {
namespace {

using namespace test;

const TallyType kThree{TallyKind::kCategories, 3}, kNumber{TallyKind::kNumber, 0};

TallySource site(const std::string& text, const TallyType& type, std::vector<TallyInput> inputs) {
  return {SourceKind::kSite, text, "", "", 0, type, std::move(inputs)};
}

// A tally that is told of choices by the texts of their sites.
class Counting {
 public:
  explicit Counting(TallyPlan plan) : plan_(std::move(plan)), tally(plan_) {}

  void add(std::string_view text, const Value& value) {
    tally.add(tally_uses(plan_.sources, text), value);
  }
  void expect(const std::vector<double>& expected) const {
    ASSERT_EQ(tally.inputs().size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(tally.inputs()[i], expected[i], 1e-6) << i;
    }
  }

 private:
  const TallyPlan plan_;

 public:
  Tally tally;
};

TEST(Tallies, CountAsByHand) {
  Counting counting({{site("e", kThree,
                           {{Measure::kVisits, 0, Form::kLogarithm},
                            {Measure::kCount, 1, Form::kLinear, 0, 4},
                            {Measure::kDifference, difference_of(2, 0), Form::kLogarithm},
                            {Measure::kDifference, difference_of(6, 0), Form::kCosine, 0, 2},
                            {Measure::kDifference, difference_of(6, 0), Form::kSine, 0, 8},
                            {Measure::kDifference, difference_of(4, 1)}}),
                      site("x", kNumber,
                           {{Measure::kSum, 0, Form::kLinear, 0, 2},
                            {Measure::kLast, 0, Form::kLinear, 1, 0.5},
                            {Measure::kSeen},
                            {Measure::kVisits, 0, Form::kRamp, 1.5, 0.5}})}});
  const std::vector<double> nothing{0, 0, 0, 1, 0, 0, 0, 0, 0, -4};
  counting.expect(nothing);
  for (const double event : {1, 1, 2}) counting.add("e", Value(event));
  // m0 - m1 + m2 = -1; m0 - m1 - m2 = -3, which is 5 of 8; m1 - m2 = 1.
  const double root = std::numbers::sqrt2 / 2;
  counting.expect({std::log(4.0), 0.5, -std::log(2.0), -1, -root, 1, 0, 0, 0, -4});
  counting.add("x", Value(3.0));
  const Tally before = counting.tally;
  counting.add("x", Value(-1.0));
  counting.add("another", Value{1, 2, 3});
  counting.expect({std::log(4.0), 0.5, -std::log(2.0), -1, -root, 1, 1, -4, 1, 4});
  EXPECT_NEAR(before.inputs()[7], 4.0, 1e-6);  // (3 - 1) / .5: a copy is one of its own
  counting.tally.restart();
  counting.expect(nothing);
}

TEST(Tallies, CountSitesThatHaveToDoWithEachOther) {
  const TallyType two{TallyKind::kCategories, 2};
  Counting counting(
      {{{SourceKind::kPair,
         "x",
         "y",
         "",
         0,
         kNumber,
         {{Measure::kSum},
          {Measure::kHighest},
          {Measure::kLowest},
          {Measure::kFall},
          {Measure::kRise},
          {Measure::kVisits}}},
        {SourceKind::kSteps, "x", "e", "", 1.5, kNumber, {{Measure::kSum}}},
        {SourceKind::kSince, "e", "y", "", 0, two, {{Measure::kCount, 1}, {Measure::kVisits}}},
        {SourceKind::kWindows,
         "e",
         "z",
         "x",
         2,
         two,
         {{Measure::kCount, 0}, {Measure::kCount, 1}}}}});
  counting.expect({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  counting.add("x", Value(3.0));  // the clock: window 1
  counting.add("e", Value(1.0));
  counting.add("e", Value(0.0));
  counting.expect({3, 3, 0, 0, 3, 1, 0, 1, 2, 0, 0});
  counting.add("y", Value(5.0));
  counting.expect({-2, 3, -2, 4 * (1 + std::log(5.0 / 4)), 0, 0, 0, 0, 0, 0, 0});
  counting.add("x", Value(0.5));
  counting.add("e", Value(1.0));
  counting.add("z", Value(7.0));  // asks for window 1
  counting.expect({-1.5, 3, -2, 4 * (1 + std::log(4.5 / 4)), 0.5, 1, -1, 1, 1, 1, 2});
  counting.add("z", Value(7.0));
  counting.expect({-1.5, 3, -2, 4 * (1 + std::log(4.5 / 4)), 0.5, 1, -1, 1, 1, 0, 0});
  for (int i = 0; i < 100; ++i) counting.add("z", Value(7.0));  // beyond all windows
  counting.add("x", Value(1e9));
  counting.add("e", Value(1.0));
  EXPECT_EQ(counting.tally.inputs().back(), 1);
}

TEST(Tallies, KeepOutliersInSight) {
  Counting counting({{site("x", kNumber, {{Measure::kSum}, {Measure::kFall}})}});
  counting.add("x", Value(4e6));
  EXPECT_NEAR(counting.tally.inputs()[0], 4 * (1 + std::log(1e6)), 1e-3);
  for (const double x : {1e308, 1e308, -1e308, -1e308}) {
    counting.add("x", Value(x));
    EXPECT_TRUE(std::isfinite(counting.tally.inputs()[0]));
    EXPECT_TRUE(std::isfinite(counting.tally.inputs()[1]));
  }
}

TEST(Tallies, KnowTheirKindsOfValues) {
  const auto type = [](const Distribution& d) {
    return tally_type({d.family(), d.shape(), static_cast<std::uint32_t>(d.categories()), 0});
  };
  EXPECT_EQ(type(Bernoulli(0.5)), (TallyType{TallyKind::kCategories, 2}));
  EXPECT_EQ(type(Categorical({0.2, 0.3, 0.5})), kThree);
  EXPECT_EQ(type(Categorical({0.2, 0.2, 0.2, 0.2, 0.2})), TallyType{});
  EXPECT_EQ(type(Poisson(3)), kNumber);
  EXPECT_EQ(type(Normal(Value{1, 2}, 1)), TallyType{});
}

TallySample sample_of(const Model& model, std::uint64_t traces) {
  InProcess simulator(model);
  return tally_sample(simulate(simulator, traces));
}

// All ramps of a plan.
std::vector<std::pair<std::string, TallyInput>> ramps(const TallyPlan& plan) {
  std::vector<std::pair<std::string, TallyInput>> found;
  for (const TallySource& source : plan.sources) {
    for (const TallyInput& input : source.inputs) {
      if (input.form == Form::kRamp) found.emplace_back(source.site, input);
    }
  }
  return found;
}

// A core remembers a few visits by itself: such programs are as they were.
TEST(TallyPlans, AreEmptyUnlessSitesComeUpAgainAndAgain) {
  EXPECT_TRUE(fit_tally(sample_of(control_flow::model(), 1000)).sources.empty());
  EXPECT_TRUE(fit_tally(sample_of(all_families(), 300)).sources.empty());
  EXPECT_TRUE(fit_tally({}).sources.empty());
}

// The level is 3 + m0 - m1, whatever m2 is, and it ends below 1 and above 7.
TEST(TallyPlans, FindTheLevelsAtWhichEventsEnd) {
  const TallyPlan plan = fit_tally(sample_of(events(), 1000));
  constexpr std::uint32_t kLevel = difference_of(2, 4);
  std::vector<double> ends;
  for (const auto& [site, input] : ramps(plan)) {
    if (input.measure == Measure::kDifference && input.which == kLevel) {
      ends.push_back(input.location);
    }
  }
  std::sort(ends.begin(), ends.end());
  EXPECT_EQ(ends, (std::vector<double>{-2.5, 4.5}));
  const TallySource& event = plan.sources[1];  // waits come first
  EXPECT_EQ(event.site, "event__Categorical(len_probs:3)");
  const auto first = std::find_if(event.inputs.begin(), event.inputs.end(), [](const auto& input) {
    return input.measure == Measure::kDifference;
  });
  ASSERT_NE(first, event.inputs.end());
  EXPECT_EQ(first->which, kLevel);  // it tells most of the waits
  EXPECT_LE(plan.inputs(), kMostTallyInputs);
}

// Something is seen at regular dates, and tells what happened since the last one.
Model dated() {
  return {"dated", [](Context& ctx) {
            double time = 0, count = 0;
            for (int date = 1;;) {
              time += ctx.sample(Exponential(3), {.name = "wait"});
              for (; date <= 8 && time >= 2.5 * date; ++date) {
                ctx.observe(Poisson(0.1 + count), {.name = "count"});
                count = 0;
              }
              if (date > 8) return;
              count += ctx.sample(Bernoulli(0.6), {.name = "kept"});
            }
          }};
}

const TallySource* source_of(const TallyPlan& plan, SourceKind kind) {
  const auto found = std::find_if(plan.sources.begin(), plan.sources.end(),
                                  [&](const auto& source) { return source.kind == kind; });
  return found == plan.sources.end() ? nullptr : &*found;
}

TEST(TallyPlans, FindDatesAndWhatHappenedSince) {
  const TallyPlan plan = fit_tally(sample_of(dated(), 300));
  const TallySource* steps = source_of(plan, SourceKind::kSteps);
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->site + steps->other, "wait__Exponentialcount__Poisson");
  EXPECT_EQ(steps->step, 2.5);
  EXPECT_EQ(steps->inputs.back().form, Form::kRamp);
  EXPECT_NEAR(steps->inputs.back().location, 2.5, 0.01);
  const TallySource* since = source_of(plan, SourceKind::kSince);
  ASSERT_TRUE(since);
  EXPECT_EQ(since->site + since->other, "kept__Bernoullicount__Poisson");
  EXPECT_FALSE(source_of(plan, SourceKind::kWindows));
}

TEST(TallyPlans, FindWindows) {
  const Model model("windows", [](Context& ctx) {
    double counts[8] = {}, time = 0;
    while (time < 16) {
      time += ctx.sample(Exponential(3), {.name = "wait"});
      const double kept = ctx.sample(Bernoulli(0.6), {.name = "kept"});
      if (time < 16) counts[static_cast<int>(time / 2)] += kept;
    }
    for (const double count : counts) ctx.observe(Poisson(0.1 + count), {.name = "count"});
  });
  const TallyPlan plan = fit_tally(sample_of(model, 300));
  const TallySource* windows = source_of(plan, SourceKind::kWindows);
  ASSERT_TRUE(windows);
  EXPECT_EQ(windows->site + windows->clock + windows->other,
            "kept__Bernoulliwait__Exponentialcount__Poisson");
  EXPECT_EQ(windows->step, 2);
  EXPECT_FALSE(source_of(plan, SourceKind::kSince));
}

// A walk that ends where it leaves an interval: a threshold at either end.
TEST(TallyPlans, FindBothEndsOfAnInterval) {
  const Model walk("walk", [](Context& ctx) {
    for (double x = 0; x > -2 && x < 3;) x += ctx.sample(Normal(0, 0.7), {.name = "step"});
  });
  std::vector<double> ends;
  for (const auto& [site, input] : ramps(fit_tally(sample_of(walk, 1000)))) {
    if (input.measure != Measure::kSum) continue;
    ends.push_back(input.location);
    EXPECT_LT(input.scale, 0.02);  // about 20,000 steps
  }
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_NEAR(std::min(ends[0], ends[1]), -2, 0.02);
  EXPECT_NEAR(std::max(ends[0], ends[1]), 3, 0.02);
}

// Coins until there are three more heads than tails, or three more tails.
Model coins() {
  return {"coins", [](Context& ctx) {
            for (int lead = 0; std::abs(lead) < 3;) {
              lead += ctx.sample(Bernoulli(0.5), {.name = "coin"}) == 1 ? 1 : -1;
            }
            ctx.sample(Normal(0, 1), {.name = "x"});
          }};
}

TEST(TallyPlans, FindWhereCountsDiffer) {
  std::vector<double> ends;
  for (const auto& [site, input] : ramps(fit_tally(sample_of(coins(), 500)))) {
    EXPECT_EQ(site, "coin__Bernoulli");
    EXPECT_EQ(input.measure, Measure::kDifference);
    EXPECT_EQ(input.scale, 0.5);  // halfway to the neighbours
    ends.push_back(input.location);
  }
  std::sort(ends.begin(), ends.end());
  EXPECT_EQ(ends, (std::vector<double>{-2.5, 2.5}));
}

// What decides is no threshold of anything that is counted: none is made up.
TEST(TallyPlans, FindNoThresholdWhereThereIsNone) {
  const Model chance("chance", [](Context& ctx) {
    double product = 0;
    while (std::abs(product) < 1.5) {
      product = ctx.sample(Normal(0, 1), {.name = "x"}) * ctx.sample(Normal(0, 1), {.name = "y"});
    }
  });
  for (const std::uint64_t traces : {100u, 1000u}) {
    EXPECT_TRUE(ramps(fit_tally(sample_of(chance, traces))).empty());
  }
}

// A sample is the same whether it came in one part or several.
TEST(TallyPlans, DependOnTheTracesAlone) {
  InProcess simulator(events());
  const auto traces = simulate(simulator, 400);
  TallySample whole = tally_sample(traces), parts;
  for (const auto& [first, last] : {std::pair{0, 7}, {7, 7}, {7, 260}, {260, 400}}) {
    parts.append(tally_sample({traces.begin() + first, traces.begin() + last}));
  }
  EXPECT_EQ(fit_tally(whole), fit_tally(parts));
  EXPECT_THROW(TallySample({{"a", kNumber}}, {2}, {0, 1}, {0, 0}), InvalidArgument);
  EXPECT_THROW(TallySample({{"a", kNumber}}, {2}, {0}, {0}), InvalidArgument);
}

class CountingNetworks : public ::testing::TestWithParam<Addressing> {
 protected:
  static NetworkConfig config() {
    NetworkConfig config = small_config(GetParam());
    config.tally = true;
    return config;
  }
};
INSTANTIATE_TEST_SUITE_P(Addressings, CountingNetworks,
                         ::testing::Values(Addressing::kInstance, Addressing::kSite,
                                           Addressing::kShared));

// Theorem 1, for the plan itself and for what is new after it.
TEST_P(CountingNetworks, KeepEveryKnownProbability) {
  InProcess simulator(events());
  const auto traces = simulate(simulator, 500);
  const std::vector<Trace> first(traces.begin(), traces.begin() + 20);
  Network network(config(), 3);
  grow(network, first);
  shake(network, 0.15, 3);
  const auto probabilities = [&](const Network& of) {
    return log_prob(std::make_shared<const CompiledNetwork>(std::make_shared<Network>(of)), first,
                    UnknownEvaluation::kZero);
  };
  const auto without = probabilities(network);
  network.set_tally(fit_tally(tally_sample(traces)));
  EXPECT_GT(network.tally_inputs(), 40u);
  EXPECT_EQ(probabilities(network), without);
  EXPECT_THROW(network.set_tally({}), InvalidArgument);
  shake(network, 0.1, 4);
  const auto with = probabilities(network);
  EXPECT_NE(with, without);
  // Shared indices need few transitions, so something really new comes besides.
  InProcess larger({"larger", [](Context& ctx) {
                      events().program(ctx);
                      ctx.sample(Normal(0, 1), {.name = "wait"});
                      ctx.sample(Normal(0, 1), {.name = "more"});
                    }});
  auto news = simulate(larger, 50, 9);
  news.insert(news.end(), traces.begin(), traces.end());
  const std::size_t size = network.size(), transitions = network.transition_count();
  grow(network, news, false);
  EXPECT_GT(network.size(), size);
  EXPECT_GT(network.transition_count(), transitions);
  const auto after = probabilities(network);
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_NEAR(after[i], with[i], 1e-5 * (10 + std::abs(with[i])));
  }
}

// Theorem 2, with what was counted.
TEST_P(CountingNetworks, ExpandForWhatIsUnknown) {
  InProcess simulator(events());
  const auto traces = simulate(simulator, 200);
  Network network(config(), 3);
  const auto simple = std::find_if(traces.begin(), traces.end(),
                                   [](const Trace& trace) { return !trace.find("seen"); });
  grow(network, {*simple});
  network.set_tally(fit_tally(tally_sample(traces)));
  shake(network, 0.15, 3);
  EXPECT_GT(expect_expanded(network, traces), 10);
}

// Training sees what execution sees.
TEST_P(CountingNetworks, LearnFromWhatTheyRunOn) {
  InProcess simulator(events());
  const auto traces = simulate(simulator, 200);
  auto network = std::make_shared<Network>(config(), 3);
  Growth growth(*network);
  growth.absorb(traces);
  network->set_tally(fit_tally(tally_sample(traces)));
  shake(*network, 0.15, 3);
  std::vector<double> trained;
  Gradient(*network).evaluate(growth.flatten(traces), &trained);
  const auto run =
      log_prob(std::make_shared<const CompiledNetwork>(network), traces, UnknownEvaluation::kZero);
  for (std::size_t i = 0; i < traces.size(); ++i) {
    EXPECT_NEAR(trained[i], run[i], 1e-5 * (10 + std::abs(run[i])));
  }
}

TEST(CountingNetworks, GetTheirPlanAfterAThousandTraces) {
  InProcess simulator(coins());
  NetworkConfig config = small_config(Addressing::kShared);
  config.tally = true;
  Network network(config, 3);
  Growth growth(network);
  const auto traces = simulate(simulator, 1000);
  growth.absorb({traces.data(), 999});
  EXPECT_FALSE(network.tally());
  growth.learn_names({traces.data() + 999, 1});  // evaluation decides nothing
  EXPECT_FALSE(network.tally());
  growth.absorb({traces.data() + 999, 1});
  ASSERT_TRUE(network.tally());
  EXPECT_EQ(*network.tally(), fit_tally(tally_sample(traces)));
  const TallyPlan plan = *network.tally();
  growth.absorb(simulate(simulator, 1000, 5));
  EXPECT_EQ(*network.tally(), plan);
}

}  // namespace
}  // namespace psn
