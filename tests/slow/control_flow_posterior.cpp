// The issue's own figure: a million traces or states of control-flow against the exact posterior.
#include <gtest/gtest.h>

#include <cmath>

#include "experiments/control_flow/control_flow.h"
#include "psn/core/in_process.h"
#include "psn/infer/importance.h"
#include "psn/infer/metropolis.h"

namespace psn {
namespace {

MetropolisOptions million() {
  MetropolisOptions options;
  options.samples = 1'000'000;
  options.queries = {{"theta"}};
  options.burn_in = 25'000;
  return options;
}

void expect_posterior(const Posterior& posterior) {
  const control_flow::ExactPosterior exact(5);
  EXPECT_NEAR(posterior.mean("theta"), exact.mean(), 0.005);
  EXPECT_NEAR(std::sqrt(posterior.variance("theta")), exact.sd(), 0.005);
}

TEST(ControlFlowPosterior, Importance) {
  InProcess simulator(control_flow::model());
  const auto posterior = importance_sampling(simulator, {{"x", Value(5.0)}}, million());
  expect_posterior(posterior);
  // Its standard error is 0.0053, so about one seed in sixteen would miss this; the seed is fixed.
  EXPECT_NEAR(posterior.log_evidence(), std::log(0.0187051), 0.01);
}

TEST(ControlFlowPosterior, Metropolis) {
  for (const bool random_walk : {false, true}) {
    InProcess simulator(control_flow::model());
    MetropolisOptions options = million();
    options.random_walk = random_walk;
    expect_posterior(metropolis_hastings(simulator, {{"x", Value(5.0)}}, options).posterior);
  }
}

}  // namespace
}  // namespace psn
