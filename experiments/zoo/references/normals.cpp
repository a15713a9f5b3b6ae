#include <cmath>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/tools/truncated.h"
#include "psn/core/distribution.h"

namespace psn::zoo::references {
namespace {

constexpr double kVariance = 0.1;  // of the prior and of the noise

}  // namespace

Answer normals(Data x, bool uniform) {
  Answer result;
  double log_evidence = 0;
  for (const double measured : x) {
    if (uniform) {  // the prior's density is 1 / 2
      const Truncated t = truncated_normal(measured, std::sqrt(kVariance), -1, 1);
      result.mean.push_back(t.mean);
      result.sd.push_back(std::sqrt(t.variance));
      log_evidence += t.log_mass - M_LN2;
    } else {
      result.mean.push_back(measured / 2);
      result.sd.push_back(std::sqrt(kVariance / 2));
      log_evidence += family::Normal::log_prob({0, std::sqrt(2 * kVariance)}, measured);
    }
  }
  result.log_evidence = log_evidence;
  return result;
}

std::vector<double> draw_normals(Data x, bool uniform, std::size_t rows, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> result;
  for (std::size_t row = 0; row < rows; ++row) {
    for (const double measured : x) {
      result.push_back(uniform ? draw_truncated_normal(measured, std::sqrt(kVariance), -1, 1, rng)
                               : measured / 2 + std::sqrt(kVariance / 2) * rng.normal());
    }
  }
  return result;
}

}  // namespace psn::zoo::references
