#include "experiments/composite_cure/autoclave.h"

#include <algorithm>

namespace psn::composite_cure {
namespace {

constexpr double kSecondHold = 120;  // minutes
constexpr double kCooling = 2.5;     // C a minute

}  // namespace

double Cycle::operator()(double minutes) const {
  const double at_hold1 = (hold1 - start) / ramp1;
  const double at_ramp2 = at_hold1 + time1;
  const double at_hold2 = at_ramp2 + (hold2 - hold1) / ramp2;
  const double at_cooling = at_hold2 + kSecondHold;
  if (minutes < at_hold1) return start + ramp1 * minutes;
  if (minutes < at_ramp2) return hold1;
  if (minutes < at_hold2) return hold1 + ramp2 * (minutes - at_ramp2);
  return hold2 - kCooling * std::max(0.0, minutes - at_cooling);
}

std::vector<double> Cycle::sampled() const {
  std::vector<double> result(kSamples);
  for (std::size_t j = 0; j < kSamples; ++j) {
    result[j] = (*this)(static_cast<double>(j) * kSampling / kMinute);
  }
  return result;
}

double Air::at(const std::vector<double>& samples, double time) {
  const double position = time / kSampling;
  const std::size_t before = std::min(static_cast<std::size_t>(position), samples.size() - 2);
  const double share = position - static_cast<double>(before);
  return (1 - share) * samples[before] + share * samples[before + 1];
}

}  // namespace psn::composite_cure
