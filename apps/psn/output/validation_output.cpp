#include "apps/psn/output/validation_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/psn/output/evidence_output.h"

namespace psn::app {
namespace {

using services::ValidatedAddress;
using services::ValidatedTransition;
using services::ValidationJob;
using services::ValidationResult;

// How far a curve is off, at the most.
double farthest(const std::optional<evidence::Curve>& curve) {
  double far = 0;
  if (!curve) return far;
  for (const double d : curve->difference) far = std::max(far, std::abs(d));
  return far;
}

void print_addresses(const ValidationResult& result) {
  constexpr std::size_t kShown = 12;
  fmt::print(
      "\nby address, the worst first: KL in nats per trace; PIT: how far the simulator's\n"
      "values are off the surrogate's distribution, at most; !: too far\n");
  fmt::print("  {:>10} {:>10} {:>8}  {:>6}\n", "value KL", "transition", "visits", "PIT");
  for (std::size_t i = 0; i < std::min(kShown, result.addresses.size()); ++i) {
    const ValidatedAddress& a = result.addresses[i];
    const bool outside = (a.places && a.places->outside) || (a.densities && a.densities->outside);
    const double far = std::max(farthest(a.places), farthest(a.densities));
    fmt::print("  {:10.5f} {:10.5f} {:8} {:>6} {} {}\n", a.value, a.transition, a.visits,
               a.places ? fmt::format("{:.3f}", far) : "", outside ? '!' : ' ', a.address);
  }
  if (result.addresses.size() > kShown) {
    fmt::print("  ... and {} more (--json)\n", result.addresses.size() - kShown);
  }
}

}  // namespace

void print_validation(const ValidationResult& result, const ValidationJob& job) {
  const ConditionalDeviation& conditional = result.conditional;
  fmt::print("{} in place of {}, by {} traces\n", job.surrogate,
             job.data.empty() ? job.simulation.model : job.data, conditional.traces);
  fmt::print("KL from it, nats per trace     {:.5f} +- {:.5f}   (up to {} is tolerated)\n",
             conditional.kl, conditional.standard_error, job.most_kl);
  if (const auto& classifier = result.classifier) {
    fmt::print(
        "told apart by a classifier in  {:.1f} %               (by chance 50, fails above "
        "{:.1f})\n",
        100 * classifier->accuracy, 100 * classifier->most);
  }
  fmt::print("traces that meet an `unknown`  {:.3f} %\n", 100 * conditional.unknown_mass);
  if (result.surrogate_speed) {
    fmt::print("traces per second              {:.0f}", *result.surrogate_speed);
    if (result.simulator_speed) {
      fmt::print(", {:.3g} times the simulator's {:.0f}",
                 *result.surrogate_speed / *result.simulator_speed, *result.simulator_speed);
    }
    fmt::print("\n");
  }
  print_addresses(result);
  print_verdict(result.verdict);
}

}  // namespace psn::app
