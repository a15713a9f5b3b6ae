// Adam over parameters that grow: each row as if it had been alone, by the published algorithm.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "psn/train/adam.h"

namespace psn {
namespace {

// The gradient of step s at element i of a row: anything.
float gradient_at(std::uint64_t step, std::size_t i) {
  return std::sin(static_cast<float>(step * 31 + i * 7 + 1));
}

void fill_gradient(Parameters& p, BlockId id, std::uint64_t step) {
  const Block& block = p.block(id);
  for (std::size_t i = 0; i < std::size_t{block.rows} * block.columns; ++i) {
    p.gradients(id)[i] = gradient_at(step, i);
  }
}

// Kingma and Ba's algorithm, to the letter.
double reference_adam(std::size_t i, std::uint64_t first_step, std::uint64_t last_step) {
  double m = 0, v = 0, value = 0;
  for (std::uint64_t s = first_step; s <= last_step; ++s) {
    const double g = gradient_at(s, i), t = static_cast<double>(s - first_step + 1);
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    value -= 0.01 * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
  }
  return value;
}

TEST(AdamLaw, RowsSurviveGrowthAndNewOnesStartFresh) {
  for (const bool touched_only : {false, true}) {
    Parameters grows, never;
    const BlockId a = grows.add(3, 7), b = never.add(3, 7);
    AdamOptions options;
    options.touched_only = touched_only;
    Adam for_grows(options), for_never(options);
    for (std::uint64_t s = 1; s <= 20; ++s) {
      if (s == 11) grows.append_rows(a, 2);  // moves the block
      fill_gradient(grows, a, s);
      fill_gradient(never, b, s);
      for_grows.update(grows, 0.01, {a});
      for_never.update(never, 0.01, {b});
    }
    EXPECT_EQ(0, std::memcmp(grows.values(a), never.values(b), 21 * sizeof(float)));
    EXPECT_EQ(0, std::memcmp(grows.first_moments(a), never.first_moments(b), 21 * sizeof(float)));
    EXPECT_EQ(0, std::memcmp(grows.second_moments(a), never.second_moments(b), 21 * sizeof(float)));
    for (std::size_t i = 0; i < 35; ++i) {
      const double expected = reference_adam(i, i < 21 ? 1 : 11, 20);
      EXPECT_NEAR(grows.values(a)[i], expected, 2e-5) << i;
    }
  }
}

TEST(AdamLaw, MissedStepsDoNotCountWhenOnlyTouchedBlocksMove) {
  Parameters p;
  const BlockId always = p.add(1, 4), rarely = p.add(2, 4);
  AdamOptions options;
  options.touched_only = true;
  Adam adam(options);
  std::uint64_t touched = 0;
  for (std::uint64_t s = 1; s <= 30; ++s) {
    fill_gradient(p, always, s);
    std::vector<BlockId> blocks{always};
    if (s % 7 == 0) {
      fill_gradient(p, rarely, ++touched);
      blocks.push_back(rarely);
    }
    adam.update(p, 0.01, blocks);
  }
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(p.values(rarely)[i], reference_adam(i, 1, touched), 2e-5);
  }
}

// In an order of its own: sixteen lanes of doubles, and then the rest.
TEST(AdamLaw, TheNormIsTheSameSumEverywhere) {
  Parameters p;
  const BlockId id = p.add(1, 1003);
  fill_gradient(p, id, 1);
  double lanes[16] = {}, sum = 0;
  for (std::size_t i = 0; i < 992; ++i) {
    lanes[i % 16] += static_cast<double>(p.gradients(id)[i]) * p.gradients(id)[i];
  }
  for (const double lane : lanes) sum += lane;
  for (std::size_t i = 992; i < 1003; ++i) {
    sum += static_cast<double>(p.gradients(id)[i]) * p.gradients(id)[i];
  }
  EXPECT_EQ(Adam({}).update(p, 0.01, {id}), std::sqrt(sum));
}

TEST(AdamLaw, ClipsTheWholeGradientAndRefusesNaN) {
  Parameters p;
  const BlockId id = p.add(1, 2);
  AdamOptions options;
  options.clip_norm = 1;
  Adam adam(options);
  p.gradients(id)[0] = 30;
  p.gradients(id)[1] = 40;
  EXPECT_NEAR(adam.update(p, 0.01, {id}), 50, 1e-4);
  EXPECT_NEAR(p.first_moments(id)[0], 0.1 * 0.6, 1e-6);
  const float before = p.values(id)[0];
  p.gradients(id)[0] = std::nanf("");
  EXPECT_TRUE(std::isnan(adam.update(p, 0.01, {id})));
  EXPECT_EQ(p.values(id)[0], before);
}

}  // namespace
}  // namespace psn
