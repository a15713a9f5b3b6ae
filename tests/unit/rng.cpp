#include "psn/base/rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace psn {
namespace {

// The known-answer vectors that come with Random123.
TEST(Philox, PublishedVectors) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Rng, StreamsAreReproducibleAndDistinct) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed : {0, 1}) {
    for (std::uint64_t stream : {0ul, 1ul, 1ul << 40}) {
      for (std::uint32_t substream : {0u, 1u}) {
        Rng a(seed, stream, substream), b(seed, stream, substream);
        for (int i = 0; i < 10; ++i) {
          const auto bits = a.bits();
          EXPECT_EQ(bits, b.bits());
          EXPECT_TRUE(seen.insert(bits).second);
        }
      }
    }
  }
}

TEST(Rng, EveryPurposeHasItsOwnNumbers) {
  std::set<std::uint64_t> seen;
  for (const std::uint64_t seed : {0, 1, 2}) {
    for (const DrawsFor purpose :
         {DrawsFor::kInference, DrawsFor::kSimulation, DrawsFor::kGraph, DrawsFor::kCorrection,
          DrawsFor::kSurvey, DrawsFor::kPrediction}) {
      const Rng rng(seed_for(purpose, seed));
      for (Rng numbers : {rng, rng.fork(0), rng.fork(1)}) {
        for (int i = 0; i < 10; ++i) EXPECT_TRUE(seen.insert(numbers.bits()).second);
      }
    }
  }
}

TEST(Rng, UniformStaysInsideTheOpenInterval) {
  Rng rng(7);
  double sum = 0;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const double u = rng.uniform();
    ASSERT_GT(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
  }
  // 4.4 standard errors: a false alarm in 100,000 seeds.
  EXPECT_NEAR(sum / kDraws, 0.5, 4.4 * std::sqrt(1.0 / 12 / kDraws));
}

TEST(Rng, BelowIsUniform) {
  Rng rng(3);
  constexpr int kDraws = 60'000;
  std::vector<int> counts(6);
  for (int i = 0; i < kDraws; ++i) ++counts[rng.below(6)];
  double chi2 = 0;
  for (const int count : counts) chi2 += std::pow(count - kDraws / 6.0, 2) / (kDraws / 6.0);
  EXPECT_LT(chi2, 30.9);  // 5 degrees of freedom: p = 1e-5
}

}  // namespace
}  // namespace psn
