// Rejection loops that a guide follows: only the accepted round counts, the evidence stays
// unbiased, and whatever comes before and after the loop is as if it had one round.
#include <gtest/gtest.h>

#include <cmath>

#include "experiments/reference/reference.h"
#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/infer/importance.h"
#include "tests/law/exact_answers.h"
#include "tests/law/inference_fixture.h"
#include "tests/law/statistics.h"

namespace psn {
namespace {

// Proposes by a fixed distribution for each name, and follows loops or does not.
class FixedProposals : public Guide {
 public:
  explicit FixedProposals(std::optional<std::uint64_t> follows) : follows_(follows) {}

  std::optional<std::uint64_t> follows_loops() const override { return follows_; }
  void choose(std::span<const Pending> requests, std::span<Choice> choices) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const Pending& request = requests[i];
      if (request.address->name() == "z" && request.distribution->family() == family_of<Uniform>) {
        const Distribution q = Beta(1, 2);
        const Value x = q.draw(*request.rng);
        choices[i] = {x, q.log_prob(x)};
      } else {
        choices[i] = {request.distribution->draw(*request.rng), std::nullopt};
      }
    }
  }

 private:
  std::optional<std::uint64_t> follows_;
};

// z is uniform on (0, 1/4), by rejection; its second digit decides about a choice in the loop.
constexpr double kShare = 0.25, kNoise = 0.1, kSeen = 0.2;
Model digits() {
  return {"digits", [](Context& ctx) {
            const double before = ctx.sample(Normal(0, 1), {.name = "before"});
            const Value z = ctx.until(
                [&] {
                  const double drawn = ctx.sample(Uniform(0, 1), {.name = "z"});
                  if (drawn > 0.1) ctx.sample(Normal(0, 1), {.name = "sometimes"});
                  return Value(drawn);
                },
                [](const Value& drawn) { return drawn.scalar() < kShare; });
            ctx.sample(Normal(z.scalar(), 1), {.name = "z"});  // the same name once more
            ctx.observe(Normal(z.scalar() + 0 * before, kNoise), kSeen, {.name = "y"});
            return z;
          }};
}
double exact_evidence() {
  constexpr int kCells = 100'000;
  double sum = 0;
  for (int i = 0; i < kCells; ++i) {
    const double z = kShare * (i + 0.5) / kCells;
    sum += std::exp(Distribution(Normal(z, kNoise)).log_prob(kSeen)) / kCells;
  }
  return sum;
}

struct Mean {
  double value = 0, error = 0;
};
Mean mean_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double x : values) sum += x;
  for (const double x : values) squares += (x - sum / n) * (x - sum / n);
  return {sum / n, std::sqrt(squares / (n - 1) / n)};
}

// Each trace's weight is an estimate of the evidence of its own: 10,000 of them, however few rounds
// they estimate with. 4.9 standard errors: one false alarm in a million seeds.
TEST(RejectionLoops, EvidenceIsUnbiased) {
  const Observations none;
  for (const std::uint64_t n : {1, 3, 10}) {
    InProcess simulator(digits());
    EngineOptions options =
        engine_options(10'000, {{"result", {}, [](const Trace& t) { return t.result; }}});
    const Posterior posterior = importance_sampling(
        simulator, none, options, [n] { return std::make_unique<FixedProposals>(n); });
    std::vector<double> weights;
    for (const double w : posterior.log_weights()) weights.push_back(std::exp(w));
    const Mean mean = mean_of(weights);
    EXPECT_NEAR(mean.value, exact_evidence(), kStandardErrors * mean.error) << n;
    EXPECT_LT(mean.error, 0.04 * mean.value) << n;
  }
}

// What the loop would cost if every rejected round counted.
TEST(RejectionLoops, RejectedRoundsAreNoNoise) {
  const Observations none;
  const auto size = [&](std::optional<std::uint64_t> follows) {
    InProcess simulator(digits());
    return importance_sampling(simulator, none, engine_options(10'000, {}),
                               [&] { return std::make_unique<FixedProposals>(follows); })
        .effective_sample_size();
  };
  EXPECT_GT(size(10), 3 * size(std::nullopt));
}

TEST(RejectionLoops, TracesHaveTheAcceptedRoundAlone) {
  InProcess simulator(digits());
  const Observations none;
  EngineOptions options = engine_options(200, {});
  options.keep_traces = true;
  const auto traces_by = [&](std::optional<std::uint64_t> follows) {
    return importance_sampling(simulator, none, options,
                               [&] { return std::make_unique<FixedProposals>(follows); })
        .traces();
  };
  for (const Trace& trace : traces_by(10)) {
    std::vector<std::string> names;
    for (const Entry& e : trace.entries) {
      names.push_back(std::string(e.address->name()) + "#" + std::to_string(e.address->instance));
    }
    const double z = trace.entries[1].value.scalar();
    EXPECT_LT(z, kShare);
    EXPECT_EQ(trace.result.scalar(), z);
    EXPECT_EQ(names,
              z > 0.1 ? (std::vector<std::string>{"before#1", "z#1", "sometimes#1", "z#1", "y#1"})
                      : (std::vector<std::string>{"before#1", "z#1", "z#1", "y#1"}));
    EXPECT_NEAR(trace.log_likelihood, trace.entries.back().log_prob, 1e-12);
  }
  std::size_t longest = 0;  // written out, as a guide has them that follows none
  for (const Trace& trace : traces_by(std::nullopt)) longest = std::max(longest, trace.length());
  EXPECT_GT(longest, 15u);
}

// A guide that proposes nothing needs no more rounds, and its draws are the program's.
TEST(RejectionLoops, TheModelsOwnRoundsCostNothing) {
  InProcess simulator(digits());
  double sum = 0, square = 0;
  constexpr std::uint64_t kRuns = 20'000;
  std::vector<double> z(kRuns);
  run_traces(
      simulator, kRuns, [] { return std::make_unique<PriorGuide>(true); },
      [&](std::uint64_t i, Trace& trace) {
        z[i] = trace.result.scalar();
        EXPECT_LE(trace.length(), 5u);
      },
      {.seed = 2}, {64, 2});
  for (const double x : z) {
    sum += x / kRuns;
    square += x * x / kRuns;
  }
  EXPECT_NEAR(sum, kShare / 2, kStandardErrors * kShare / std::sqrt(12.0 * kRuns));
  EXPECT_NEAR(square, kShare * kShare / 3,
              kStandardErrors * kShare * kShare * 0.3 / std::sqrt(kRuns));
}

// A network goes on after the loop from where it was when the round was accepted.
TEST(RejectionLoops, AnInferenceNetworkFollowsThem) {
  InProcess simulator(reference::gaussian_marsaglia());
  const auto network = train(simulator, Purpose::kInference, 40'000);
  const GaussianAnswer exact = gaussian_answer(8, 9);
  const auto posterior =
      compiled_inference(simulator, network, {}, engine_options(10'000, {{"mu"}}));
  expect_moments(posterior, "mu", exact.mean, exact.sd);
  EXPECT_GT(posterior.effective_sample_size(), 3'000);
  EXPECT_LT(pareto_khat(posterior.log_weights()).khat, 0.5);
  EXPECT_NEAR(posterior.log_evidence(),
              importance_sampling(simulator, {}, engine_options(400'000, {{"mu"}})).log_evidence(),
              0.2);
}

TEST(RejectionLoops, DependOnNeitherWidthNorThreads) {
  InProcess simulator(reference::gaussian_marsaglia());
  const auto network = train(simulator, Purpose::kInference, 1'000);
  std::vector<double> expected;
  for (const Parallelism p : {Parallelism{1, 1}, {64, 1}, {7, 2}}) {
    EngineOptions options = engine_options(300, {{"mu"}});
    options.parallelism = p;
    const auto posterior = compiled_inference(simulator, network, {}, options);
    if (expected.empty()) expected = posterior.log_weights();
    EXPECT_EQ(posterior.log_weights(), expected);
  }
}

TEST(RejectionLoops, RefuseEvidenceInside) {
  const auto run = [](const Model& model, const Observations& data) {
    InProcess simulator(model);
    importance_sampling(simulator, data, engine_options(10, {}),
                        [] { return std::make_unique<FixedProposals>(2); });
  };
  const Model inside("inside", [](Context& ctx) {
    ctx.until([&] { return ctx.observe(Normal(0, 1), 1.0, {.name = "y"}); },
              [](const Value&) { return true; });
  });
  EXPECT_THROW(run(inside, {}), ModelError);
  EXPECT_THROW(run(digits(), {{"z", Value(0.1)}}), ModelError);
}

}  // namespace
}  // namespace psn
