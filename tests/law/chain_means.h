// What many chains say of a mean, against the exact one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "psn/core/posterior.h"

namespace psn::test {

// In units of the standard error that the spread of 64 chains' means gives: beyond 5.5 of a t
// distribution with 63 degrees of freedom lies less than one in a million.
inline constexpr std::size_t kManyChains = 64;

inline void expect_mean_of_chains(const Posterior& posterior, const std::string& name, double exact,
                                  double most_error = 0.05) {
  const std::vector<double>& values = posterior.column(name).data;
  const std::size_t length = posterior.size() / kManyChains;
  double mean = 0, square = 0;
  for (std::size_t c = 0; c < kManyChains; ++c) {
    double own = 0;
    for (std::size_t i = 0; i < length; ++i) own += values[c * length + i];
    own /= static_cast<double>(length);
    mean += own / kManyChains;
    square += own * own / kManyChains;
  }
  const double error = std::sqrt(std::max(0.0, square - mean * mean) / (kManyChains - 1));
  EXPECT_NEAR(mean, exact, 5.5 * error) << name << ", error " << error;
  EXPECT_GT(error, 0) << name;
  EXPECT_LT(error, most_error) << name;
}

}  // namespace psn::test
