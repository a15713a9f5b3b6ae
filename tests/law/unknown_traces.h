// Theorem 2 in a surrogate: a trace with new addresses and transitions has a density.
#pragma once

#include <gtest/gtest.h>

#include "psn/nn/run/evaluate.h"
#include "tests/law/network_fixture.h"

namespace psn::test {

// Expects the density that the grown network has of each trace where something is new, and the old
// one's where nothing is. How many of the traces are unknown.
inline int expect_expanded(const Network& network, const std::vector<Trace>& traces) {
  const auto compiled = std::make_shared<const CompiledNetwork>(std::make_shared<Network>(network));
  const auto zero = log_prob(compiled, traces, UnknownEvaluation::kZero);
  const auto expanded = log_prob(compiled, traces, UnknownEvaluation::kExpand);
  int unknown = 0;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    EXPECT_TRUE(std::isfinite(expanded[i]));
    if (zero[i] > -kInfinity) {
      EXPECT_EQ(zero[i], expanded[i]);
      continue;
    }
    ++unknown;
    Network grown = network;
    grow(grown, {traces[i]}, false);
    const auto scalar = evaluate(grown, traces[i]);
    EXPECT_NEAR(expanded[i], scalar.values + scalar.transitions,
                1e-5 * (10 + std::abs(expanded[i])));
  }
  return unknown;
}

}  // namespace psn::test
