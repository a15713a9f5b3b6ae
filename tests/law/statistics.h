// Comparing an estimate with an exact answer.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "psn/core/posterior.h"
#include "psn/infer/diagnostics.h"

namespace psn {

// 4.9 standard errors: for a normal estimate one false alarm in a million seeds. The standard error
// comes from the effective sample size, itself an estimate, hence the margin over 4.75.
inline constexpr double kStandardErrors = 4.9;

inline void expect_mean(const Posterior& posterior, const std::string& name, double mean,
                        double sd) {
  const double ess = effective_sample_size(posterior, name);
  ASSERT_GT(ess, 50) << name << ": too few effective samples to judge";
  EXPECT_NEAR(posterior.mean(name), mean, kStandardErrors * sd / std::sqrt(ess)) << name;
}

// The standard deviation too; `kurtosis` of the exact posterior sets its error (3 for a normal).
inline void expect_moments(const Posterior& posterior, const std::string& name, double mean,
                           double sd, double kurtosis = 3) {
  expect_mean(posterior, name, mean, sd);
  const double ess = effective_sample_size(posterior, name);
  EXPECT_NEAR(std::sqrt(posterior.variance(name)), sd,
              kStandardErrors * sd * std::sqrt((kurtosis - 1) / 4 / ess) + 1e-12)
      << name;
}

}  // namespace psn
