#include "psn/report/agreement.h"

#include <gtest/gtest.h>

#include <cmath>

#include "psn/core/in_process.h"
#include "psn/infer/importance.h"

namespace psn {
namespace {

// A choice of 1 with probability p goes on to "b".
Model coin(double p) {
  return {"coin", [p](Context& ctx) {
            if (ctx.sample(Bernoulli(p), {.name = "a"}) == 1) {
              ctx.sample(Normal(0, 1), {.name = "b"});
            }
          }};
}

struct Side {
  std::unique_ptr<InProcess> simulator;  // the graph refers to its addresses
  TransitionGraph graph;
  PathCounts paths;
};

Side side_of(double p, std::uint64_t traces, std::uint64_t seed) {
  Side side{std::make_unique<InProcess>(coin(p)), TransitionGraph(), {}};
  run_traces(*side.simulator, traces, prior_guide(),
             [&](std::uint64_t, Trace& trace) {
               side.graph.add(trace);
               side.paths.add(trace);
             },
             {.seed = seed}, {16, 1});
  return side;
}

// Differences within 4.9 standard errors: one false alarm in a million.
TEST(Agreement, OfTransitionsAndPaths) {
  constexpr std::uint64_t kTraces = 20'000;
  const Side a = side_of(0.3, kTraces, 1), b = side_of(0.5, kTraces, 2);
  const double tolerance = 4.9 * std::sqrt((0.21 + 0.25) / kTraces);
  const auto deviations = transition_deviations(a.graph, b.graph, 1000);
  ASSERT_EQ(deviations.size(), 4u);  // begin -> a, a -> b, a -> end, b -> end
  EXPECT_EQ(deviations[0].from, "a__Bernoulli__1");
  EXPECT_NEAR(std::abs(deviations[0].difference()), 0.2, tolerance);
  EXPECT_NEAR(deviations[0].standard_error(), std::sqrt(2 * 0.24 / kTraces), 1e-4);
  EXPECT_EQ(deviations[3].difference(), 0);
  EXPECT_NEAR(PathCounts::total_variation(a.paths, b.paths), 0.2, tolerance);
  EXPECT_EQ(PathCounts::total_variation(a.paths, a.paths), 0);
}

TEST(Agreement, RareStartsDoNotCount) {
  const Side a = side_of(0.01, 2000, 1), b = side_of(0.5, 2000, 2);
  for (const auto& deviation : transition_deviations(a.graph, b.graph, 1000)) {
    EXPECT_NE(deviation.from, "b__Normal__1");
  }
}

TEST(Agreement, DisjointPathsHaveTotalVariationOne) {
  EXPECT_EQ(PathCounts::total_variation(side_of(0, 100, 1).paths, side_of(1, 100, 1).paths), 1);
}

TEST(Agreement, MeansInBins) {
  const std::vector<std::pair<double, double>> pairs{{0, 1}, {0.4, 3}, {0.5, 5}, {1, 7}, {1.5, 9}};
  const auto bins = binned_means(pairs, 0, 1, 2);
  ASSERT_EQ(bins.size(), 2u);
  EXPECT_EQ(bins[0].count, 2u);
  EXPECT_EQ(bins[0].by_mean, 0.2);
  EXPECT_EQ(bins[0].mean, 2);
  EXPECT_NEAR(bins[0].standard_error, 1 / std::sqrt(2), 1e-12);
  EXPECT_EQ(bins[1].low, 0.5);
  EXPECT_EQ(bins[1].mean, 6);  // the end belongs to the last bin, what lies beyond to none
  EXPECT_TRUE(std::isnan(binned_means(pairs, 2, 3, 1)[0].mean));
}

}  // namespace
}  // namespace psn
