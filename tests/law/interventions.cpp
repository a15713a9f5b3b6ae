// A latent that is held at a value: what Pearl writes do(x), against exact answers that differ from
// those of conditioning on x, with every engine, in the simulator and in a surrogate.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/infer/correction.h"
#include "psn/infer/importance.h"
#include "psn/infer/metropolis.h"
#include "psn/nn/run/evaluate.h"
#include "psn/nn/run/surrogate.h"
#include "tests/law/inference_fixture.h"
#include "tests/law/network_fixture.h"
#include "tests/law/statistics.h"

namespace psn {
namespace {

// z moves both x and y. Neither x nor its distribution is under the control of whoever holds it.
constexpr double kZ = 0.3, kX[] = {0.2, 0.8}, kY[2][2] = {{0.5, 0.1}, {0.9, 0.4}};  // y: by x, z

Model confounded(bool control = true) {
  return {"confounded", [control](Context& ctx) {
            const auto z = ctx.sample(Bernoulli(kZ), {.name = "z"}).integer();
            const auto x =
                ctx.sample(Bernoulli(kX[z]), {.name = "x", .control = control}).integer();
            ctx.observe(Bernoulli(kY[x][z]), {.name = "y"});
          }};
}

const Observations kHeld{{"x", Value(1.0)}}, kData{{"y", Value(1.0)}};

// p(z | do(x = 1), y = 1) and p(y = 1 | do(x = 1)), from s(z) and s(y | x = 1, z).
struct Answer {
  double z, evidence;
};
Answer answer(const double (&prior)[2], const double (&likelihood)[2]) {
  const double one = prior[1] * likelihood[1], evidence = one + prior[0] * likelihood[0];
  return {one / evidence, evidence};
}
const Answer kExact = answer({1 - kZ, kZ}, {kY[1][0], kY[1][1]});

void expect_intervention(const Posterior& posterior, const Answer& exact) {
  expect_mean(posterior, "z", exact.z, std::sqrt(exact.z * (1 - exact.z)));
  EXPECT_EQ(posterior.mean("x"), 1);
  EXPECT_EQ(posterior.variance("x"), 0);
  if (posterior.chains() > 0) return;
  EXPECT_NEAR(posterior.log_evidence(), std::log(exact.evidence),
              kStandardErrors / std::sqrt(posterior.effective_sample_size()));
}

EngineOptions holding(std::uint64_t samples) {
  EngineOptions options = engine_options(samples, {{"z"}, {"x"}});
  options.held = &kHeld;
  return options;
}

Posterior chains(Simulator& simulator, bool random_walk) {
  MetropolisOptions options;
  static_cast<EngineOptions&>(options) = holding(100'000);
  options.burn_in = 100;
  options.random_walk = random_walk;
  return metropolis_hastings(simulator, kData, options).posterior;
}

TEST(Intervention, IsNotConditioning) {
  const double one = kZ * kX[1] * kY[1][1], zero = (1 - kZ) * kX[0] * kY[1][0];
  EXPECT_GT(one / (one + zero), kExact.z + 0.2);
}

TEST(Intervention, HoldsInEveryEngine) {
  for (const bool control : {true, false}) {
    InProcess simulator(confounded(control));
    expect_intervention(importance_sampling(simulator, kData, holding(50'000)), kExact);
    for (const bool random_walk : {false, true}) {
      expect_intervention(chains(simulator, random_walk), kExact);
    }
    const auto network = train(simulator, Purpose::kInference, 2'000);
    expect_intervention(compiled_inference(simulator, network, kData, holding(20'000), 0.2),
                        kExact);
    const Posterior forward = simulate(simulator, holding(50'000));
    expect_mean(forward, "z", kZ, std::sqrt(kZ * (1 - kZ)));
    EXPECT_NEAR(forward.effective_sample_size(), 50'000, 1e-6);
  }
}

// Along one path, of eight traces: s(z) and s(y = 1 | x = 1, z) follow from their densities.
Answer answer_of(std::shared_ptr<const Network> network, Simulator& simulator) {
  double joint[2][2][2] = {};  // z, x, y
  for (const Trace& trace : test::simulate(simulator, 1'000)) {
    joint[trace["z"].integer()][trace["x"].integer()][trace["y"].integer()] =
        std::exp(log_prob(*network, trace, UnknownEvaluation::kRenormalise));
  }
  double prior[2] = {}, likelihood[2] = {};
  for (const int z : {0, 1}) {
    for (const int x : {0, 1}) prior[z] += joint[z][x][0] + joint[z][x][1];
    likelihood[z] = joint[z][1][1] / (joint[z][1][0] + joint[z][1][1]);
  }
  EXPECT_NEAR(prior[0] + prior[1], 1, 1e-5);
  return answer(prior, likelihood);
}

TEST(Intervention, HoldsInASurrogateAndAfterItsCorrection) {
  InProcess simulator(confounded());
  const auto network = test::network_of(
      confounded(), {.config = test::small_config(), .traces = 1'000, .shake = 0.3});
  SurrogateSimulator surrogate("s", network);
  const Answer exact = answer_of(network, simulator);
  expect_intervention(importance_sampling(surrogate, kData, holding(50'000)), exact);
  for (const bool random_walk : {false, true}) {
    expect_intervention(chains(surrogate, random_walk), exact);
  }
  EngineOptions options = holding(20'000);
  options.keep_traces = true;
  const Posterior own = importance_sampling(surrogate, kData, options);
  const Correction corrected = correct_to_simulator(simulator, kData, own, holding(20'000));
  expect_intervention(corrected.posterior, kExact);
}

TEST(Intervention, RefusesWhatTheLatentCannotBe) {
  InProcess simulator(confounded());
  const Observations impossible{{"x", Value(2.0)}};
  EngineOptions options = holding(10);
  options.held = &impossible;
  try {
    simulate(simulator, options);
    FAIL();
  } catch (const ModelError& error) {
    EXPECT_NE(std::string(error.what()).find("x__Bernoulli__1"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("held at 2"), std::string::npos);
  }
}

}  // namespace
}  // namespace psn
