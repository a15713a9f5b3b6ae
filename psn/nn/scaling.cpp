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
  if (count_ == 0) {
    low_ = low;
    high_ = high;
    reservoir_.resize(x.size());
    if (p.family() == Family::kLogNormal) {
      const auto& scale = std::get<LogNormal>(p.variant()).parameters[1];
      for (std::size_t i = 0; i < x.size(); ++i) {
        fallback_.push_back(static_cast<float>(scale[scale.is_scalar() ? 0 : i]));
      }
    } else {
      for (const double v : p.variance()) fallback_.push_back(static_cast<float>(std::sqrt(v)));
    }
  }
  bounds_vary_ |= low != low_ || high != high_;
  low_ = std::min(low_, low);
  high_ = std::max(high_, high);
  // A uniform sample of all values so far.
  const std::uint64_t place = count_ < kReservoir ? count_ : random % (count_ + 1);
  ++count_;
  if (place >= kReservoir) return;
  const bool logarithm = scaled_by_logarithm(p.family());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto value = static_cast<float>(logarithm ? std::log(x[i]) : x[i]);
    if (place < reservoir_[i].size()) {
      reservoir_[i][place] = value;
    } else {
      reservoir_[i].push_back(value);
    }
  }
}

Scaling ScalingEstimator::fit(const Scaling& current) {
  next_fit_ = std::max<std::uint64_t>(2 * count_, 32);
  constexpr std::uint64_t kEnough = 1 << 15;
  if (count_ >= kEnough) next_fit_ = ~std::uint64_t{0};
  Scaling result = current;
  result.location.resize(reservoir_.size());
  result.scale.resize(reservoir_.size());
  for (std::size_t i = 0; i < reservoir_.size(); ++i) {
    std::vector<float> sorted = reservoir_[i];
    std::sort(sorted.begin(), sorted.end());
    result.location[i] = static_cast<float>(quantile(sorted, 0.5));
    double scale = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 1.349;
    constexpr std::size_t kHandful = 8;
    if (sorted.size() < kHandful || !(scale > 0)) scale = fallback_[i];
    if (!(scale > 0) || !std::isfinite(scale)) scale = 1;
    result.scale[i] = static_cast<float>(scale);
  }
  return result;
}

}  // namespace psn
