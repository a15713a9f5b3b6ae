#include "psn/evidence/uniformity.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "psn/base/numerics.h"

namespace psn::evidence {
namespace {

constexpr double kNegligible = 1e-40;

double place(std::size_t k) {
  return static_cast<double>(k + 1) / static_cast<double>(kPlaces + 1);
}

// How far around its mean a count of this variance is followed.
double reach(double variance) {
  return 14 * std::sqrt(variance) + 30;
}

double log_binomial(double n, double p, double k) {
  return log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1) + x_log_y(k, p) +
         x_log_y(n - k, 1 - p);
}

// How many are at most z.
std::size_t count_up_to(std::span<const double> ascending, double z) {
  return static_cast<std::size_t>(std::upper_bound(ascending.begin(), ascending.end(), z) -
                                  ascending.begin());
}

}  // namespace

UniformBand::UniformBand(std::size_t count, double tolerance)
    : count_(count), tolerance_(tolerance), tails_(kPlaces) {
  const auto n = static_cast<double>(count);
  for (std::size_t k = 0; k < kPlaces; ++k) {
    const double p = place(k) + tolerance;
    if (p >= 1) continue;
    Tail& tail = tails_[k];
    tail.first = static_cast<std::size_t>(std::floor(n * p));
    const double far = std::min(n, std::ceil(n * p + reach(n * p * (1 - p))));
    double sum = 0;
    for (auto r = static_cast<std::size_t>(far) + 1; r-- > tail.first;) {
      sum += std::exp(log_binomial(n, p, static_cast<double>(r)));
      tail.at.push_back(std::min(1.0, sum));
    }
    std::reverse(tail.at.begin(), tail.at.end());
  }
  first_step_ = poisson(n * (place(0) + tolerance));
  step_ = poisson(n / static_cast<double>(kPlaces + 1));
}

UniformBand::Steps UniformBand::poisson(double mean) {
  Steps steps;
  steps.first = static_cast<std::size_t>(std::max(0.0, std::floor(mean - reach(mean))));
  const auto last = static_cast<std::size_t>(mean + reach(mean));
  for (std::size_t r = steps.first; r <= last; ++r) {
    const auto x = static_cast<double>(r);
    steps.at.push_back(std::exp(x_log_y(x, mean) - mean - log_gamma(x + 1)));
  }
  return steps;
}

// The least count that is reached with at most this probability; where none is known, one that
// cannot be reached.
std::size_t UniformBand::critical(const Tail& tail, double gamma) const {
  const auto found = std::partition_point(tail.at.begin(), tail.at.end(),
                                          [&](double probability) { return probability > gamma; });
  if (found == tail.at.end()) return count_ + 1;
  return tail.first + static_cast<std::size_t>(found - tail.at.begin());
}

double UniformBand::crossing(double gamma) const {
  // Below that, sums of probabilities near one have no such digits; the bound is close.
  const double bound = gamma * static_cast<double>(kPlaces);
  if (bound < 1e-9) return bound;
  std::vector<double> now{1.0};  // P(count = first + i, and no crossing so far)
  std::size_t first = 0;
  double passed = 0;
  for (std::size_t k = 0; k < kPlaces && !tails_[k].at.empty(); ++k) {
    const Steps& step = k == 0 ? first_step_ : step_;
    const std::size_t limit = critical(tails_[k], gamma), from = first + step.first;
    if (limit <= from) return 1;
    std::vector<double> next(std::min(limit - from, now.size() + step.at.size() - 1));
    for (std::size_t i = 0; i < now.size(); ++i) {
      const std::size_t room = next.size() > i ? std::min(step.at.size(), next.size() - i) : 0;
      for (std::size_t j = 0; j < room; ++j) next[i + j] += now[i] * step.at[j];
    }
    first = from;
    const auto negligible = [](double p) { return p < kNegligible; };
    const auto begin = std::find_if_not(next.begin(), next.end(), negligible);
    first += static_cast<std::size_t>(begin - next.begin());
    next.erase(next.begin(), begin);
    while (!next.empty() && negligible(next.back())) next.pop_back();
    now = std::move(next);
    passed = place(k) + tolerance_;
  }
  const auto n = static_cast<double>(count_);
  const auto log_poisson = [](double mean, double x) {
    return x_log_y(x, mean) - mean - log_gamma(x + 1);
  };
  double stays = 0;
  for (std::size_t i = 0; i < now.size() && first + i <= count_; ++i) {
    const auto rest = static_cast<double>(count_ - first - i);
    stays += now[i] * std::exp(log_poisson(n * (1 - passed), rest) - log_poisson(n, n));
  }
  return std::clamp(1 - stays, 0.0, std::min(1.0, bound));
}

// Of the numbers, or of what they are seen from the other end.
double UniformBand::smallest_tail(std::span<const double> ascending, bool mirrored) const {
  double smallest = 1;
  for (std::size_t k = 0; k < kPlaces; ++k) {
    const std::size_t reached = mirrored ? count_ - count_up_to(ascending, place(kPlaces - 1 - k))
                                         : count_up_to(ascending, place(k));
    const Tail& tail = tails_[k];
    if (tail.at.empty() || reached < tail.first) continue;
    const std::size_t i = std::min(reached - tail.first, tail.at.size() - 1);
    smallest = std::min(smallest, tail.at[i]);
  }
  return smallest;
}

double UniformBand::p_value(std::span<const double> sample) const {
  std::vector<double> ascending(sample.begin(), sample.end());
  std::sort(ascending.begin(), ascending.end());
  const double gamma = std::min(smallest_tail(ascending, false), smallest_tail(ascending, true));
  return std::min(1.0, 2 * crossing(gamma));
}

std::vector<double> UniformBand::upper_limits(double false_alarm) const {
  double low = false_alarm / (2 * static_cast<double>(kPlaces)), high = false_alarm;
  for (int i = 0; low > 1e-11 && i < 14; ++i) {
    const double middle = std::sqrt(low * high);
    (2 * crossing(middle) <= false_alarm ? low : high) = middle;
  }
  std::vector<double> limits(kPlaces);
  for (std::size_t k = 0; k < kPlaces; ++k) {
    const std::size_t beyond = tails_[k].at.empty() ? count_ + 1 : critical(tails_[k], low);
    limits[k] = static_cast<double>(beyond - 1) / static_cast<double>(count_) - place(k);
  }
  return limits;
}

std::size_t UniformTests::usable(std::size_t count) const {
  if (count < kLeastUniform) return 0;
  const std::size_t within = std::min(count, most_);
  std::size_t size = kLeastUniform;
  for (std::size_t next = size; next <= within; next += 1 + next / 10) size = next;
  return within == most_ ? most_ : size;
}

const UniformBand& UniformTests::band(std::size_t count) {
  return bands_.try_emplace(count, count, tolerance_).first->second;
}

Curve UniformTests::test(std::span<const double> sample) {
  const std::size_t count = usable(sample.size());
  if (count == 0) return {.count = sample.size()};
  std::vector<double> used(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(count));
  Curve curve{.count = count, .p_value = band(count).p_value(used)};
  std::sort(used.begin(), used.end());
  for (std::size_t k = 0; k < kPlaces; ++k) {
    curve.z.push_back(place(k));
    curve.difference.push_back(
        static_cast<double>(count_up_to(used, place(k))) / static_cast<double>(count) - place(k));
  }
  return curve;
}

void UniformTests::add_band(Curve& curve, double false_alarm) {
  if (curve.z.empty()) return;
  auto& limits = limits_[{curve.count, false_alarm}];
  if (limits.empty()) limits = band(curve.count).upper_limits(false_alarm);
  curve.high = limits;
  curve.low.assign(limits.rbegin(), limits.rend());
  for (double& low : curve.low) low = -low;
  curve.outside = false;
  for (std::size_t k = 0; k < kPlaces; ++k) {
    const double rounding = 1e-9;
    curve.outside |= curve.difference[k] > curve.high[k] + rounding ||
                     curve.difference[k] < curve.low[k] - rounding;
  }
}

}  // namespace psn::evidence
