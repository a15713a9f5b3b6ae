#include "psn/nn/scaling.h"

#include <algorithm>
#include <cmath>

namespace psn {
namespace {

// Random numbers for the reservoirs: a hash of what they belong to.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

double quantile(const std::vector<float>& sorted, double p) {
  const double position = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double deviation(const std::vector<float>& values) {
  double sum = 0, squares = 0;
  for (const double x : values) sum += x;
  const double mean = sum / static_cast<double>(values.size());
  for (const double x : values) squares += (x - mean) * (x - mean);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

}  // namespace

Bounds bounds_of(const Distribution& p) {
  const FamilyInfo& declared = info(p.family());
  if (!declared.has(family::Role::kLow) && !declared.has(family::Role::kHigh)) return {};
  Bounds bounds{kInfinity, -kInfinity};
  for (std::size_t i = 0; i < p.size(); ++i) {
    const Support s = p.support(i);
    bounds.low = std::min(bounds.low, s.low);
    bounds.high = std::max(bounds.high, s.high);
  }
  return bounds;
}

void Bounds::include(const Bounds& other) {
  vary |= other.vary || low != other.low || high != other.high;
  low = std::min(low, other.low);
  high = std::max(high, other.high);
}

void Measurements::add(const Bounds& more) {
  if (!bounds) bounds = more;
  bounds->include(more);
}

void Measurements::add(const Value& x, const Distribution& p) {
  add(bounds_of(p));
  const bool logarithmic = info(p.family()).logarithmic;
  if (count++ == 0) {
    if (logarithmic) {
      const Value& scale = parameter(p, family::Role::kScale);
      for (std::size_t i = 0; i < x.size(); ++i) {
        spread.push_back(static_cast<float>(scale[scale.is_scalar() ? 0 : i]));
      }
    } else {
      for (const double v : p.variance()) spread.push_back(static_cast<float>(std::sqrt(v)));
    }
  }
  for (const double v : x) values.push_back(static_cast<float>(logarithmic ? std::log(v) : v));
}

void ScalingEstimator::add(const Measurements& more, std::uint64_t key) {
  if (more.bounds && data_.count == 0) data_.bounds = *more.bounds;
  if (more.bounds) data_.bounds.include(*more.bounds);
  if (more.count == 0) return;
  const std::size_t components = more.values.size() / more.count;
  if (data_.count == 0) {
    data_.fallback = more.spread;
    data_.reservoir.resize(components);
  }
  for (std::uint64_t k = 0; k < more.count; ++k) {
    // A uniform sample of all values so far.
    const std::uint64_t place =
        data_.count < kReservoir ? data_.count : mix(mix(key) + data_.count) % (data_.count + 1);
    ++data_.count;
    if (place >= kReservoir) continue;
    for (std::size_t i = 0; i < components; ++i) {
      const float value = more.values[k * components + i];
      if (place < data_.reservoir[i].size()) {
        data_.reservoir[i][place] = value;
      } else {
        data_.reservoir[i].push_back(value);
      }
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
    if (!(scale > 0)) scale = deviation(sorted);  // a tag: it has no distribution to fall back to
    if (!(scale > 0) || !std::isfinite(scale)) scale = 1;
    result.scale[i] = static_cast<float>(scale);
  }
  return result;
}

}  // namespace psn
