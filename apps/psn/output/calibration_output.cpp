#include "apps/psn/output/calibration_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/psn/output/evidence_output.h"

namespace psn::app {
namespace {

using services::CalibratedLatent;
using services::CalibrationJob;
using services::CalibrationResult;

double median(std::vector<double> values) {
  std::erase_if(values, [](double x) { return std::isnan(x); });
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The share of true values in the central region of this probability.
std::string covered(const evidence::Curve& curve, double probability) {
  for (std::size_t k = 0; k < curve.z.size(); ++k) {
    if (std::abs(curve.z[k] - probability) > 1e-9) continue;
    return fmt::format("{:.0f} %", 100 * (curve.z[k] + curve.difference[k]));
  }
  return "";
}

}  // namespace

void print_calibration(const CalibrationResult& result, const CalibrationJob& job) {
  constexpr std::size_t kShown = 12;
  fmt::print("{} of {}, {} data sets, {} draws of each posterior\n", job.network,
             job.simulation.model, result.datasets, job.simulation.count);
  fmt::print(
      "\nhow often the truth lies in the posterior's central 50 % and 90 %; contraction: 1 -\n"
      "posterior / prior variance, the median; !: off by more than chance allows\n");
  fmt::print("  {:>6} {:>6} {:>12}\n", "50 %", "90 %", "contraction");
  for (std::size_t i = 0; i < std::min(kShown, result.latents.size()); ++i) {
    const CalibratedLatent& latent = result.latents[i];
    const bool outside = latent.ranks.outside || latent.coverage.outside;
    fmt::print("  {:>6} {:>6} {:12.3f} {} {}\n", covered(latent.coverage, 0.5),
               covered(latent.coverage, 0.9), median(latent.contraction), outside ? '!' : ' ',
               latent.name);
  }
  if (result.latents.size() > kShown) {
    fmt::print("  ... and {} more (--json)\n", result.latents.size() - kShown);
  }
  if (!result.ess.empty()) {
    fmt::print(
        "\nmedian ESS {:.0f} of {}, median k-hat {:.2f}; unreliable weights on {:.1f} % of the "
        "data sets\n",
        median(result.ess), job.simulation.count, median(result.khat), 100 * result.unreliable);
  }
  print_verdict(result.verdict);
}

}  // namespace psn::app
