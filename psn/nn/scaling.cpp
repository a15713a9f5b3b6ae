#include "psn/nn/scaling.h"

#include <algorithm>
#include <cmath>

namespace psn {
namespace {

// Where a distribution's support begins and ends, for families that have such parameters.
std::pair<double, double> bounds_of(const Distribution& p) {
  const Family family = p.family();
  if (family != Family::kUniform && family != Family::kTruncatedNormal &&
      family != Family::kBinomial) {
    return {0, 0};
  }
  double low = kInfinity, high = -kInfinity;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const Support s = p.support(i);
    low = std::min(low, s.low);
    high = std::max(high, s.high);
  }
  return {low, high};
}

double quantile(const std::vector<float>& sorted, double p) {
  const double position = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

bool scaled_by_logarithm(Family family) {
  return family == Family::kLogNormal;
}

void ScalingEstimator::add(const Value& x, const Distribution& p, std::uint64_t random) {
  const auto [low, high] = bounds_of(p);
  if (data_.count == 0) {
    data_.low = low;
    data_.high = high;
    data_.reservoir.resize(x.size());
    if (p.family() == Family::kLogNormal) {
      const auto& scale = std::get<LogNormal>(p.variant()).parameters[1];
      for (std::size_t i = 0; i < x.size(); ++i) {
        data_.fallback.push_back(static_cast<float>(scale[scale.is_scalar() ? 0 : i]));
      }
    } else {
      for (const double v : p.variance())
        data_.fallback.push_back(static_cast<float>(std::sqrt(v)));
    }
  }
  data_.bounds_vary |= low != data_.low || high != data_.high;
  data_.low = std::min(data_.low, low);
  data_.high = std::max(data_.high, high);
  // A uniform sample of all values so far.
  const std::uint64_t place = data_.count < kReservoir ? data_.count : random % (data_.count + 1);
  ++data_.count;
  if (place >= kReservoir) return;
  const bool logarithm = scaled_by_logarithm(p.family());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto value = static_cast<float>(logarithm ? std::log(x[i]) : x[i]);
    if (place < data_.reservoir[i].size()) {
      data_.reservoir[i][place] = value;
    } else {
      data_.reservoir[i].push_back(value);
    }
  }
}

Scaling ScalingEstimator::fit(const Scaling& current) {
  data_.next_fit = std::max<std::uint64_t>(2 * data_.count, 32);
  constexpr std::uint64_t kEnough = 1 << 15;
  if (data_.count >= kEnough) data_.next_fit = kNever;
  Scaling result = current;
  result.location.resize(data_.reservoir.size());
  result.scale.resize(data_.reservoir.size());
  for (std::size_t i = 0; i < data_.reservoir.size(); ++i) {
    std::vector<float> sorted = data_.reservoir[i];
    std::sort(sorted.begin(), sorted.end());
    result.location[i] = static_cast<float>(quantile(sorted, 0.5));
    double scale = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 1.349;
    constexpr std::size_t kHandful = 8;
    if (sorted.size() < kHandful || !(scale > 0)) scale = data_.fallback[i];
    if (!(scale > 0) || !std::isfinite(scale)) scale = 1;
    result.scale[i] = static_cast<float>(scale);
  }
  return result;
}

}  // namespace psn
