#include "psn/infer/parameter_density.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "psn/base/error.h"
#include "psn/base/numerics.h"

namespace psn {
namespace {

constexpr double kOtherCategory = 0.1;  // share of a kernel that goes to all other categories
constexpr double kMostFew = 20;         // whole numbers that are as good as categories
constexpr double kLogRootTwoPi = 0.91893853320467274178;

double normal_share(double low, double high) {
  return 0.5 * (std::erfc(-high * M_SQRT1_2) - std::erfc(-low * M_SQRT1_2));
}

}  // namespace

ParameterDensity::ParameterDensity(std::span<const Distribution> priors,
                                   const std::vector<std::vector<Value>>& draws) {
  for (const Distribution& prior : priors) {
    if (prior.on_simplex()) {
      throw InvalidArgument(fmt::format("`parameters`: the components of a {} hang together",
                                        family_name(prior.family())));
    }
    shapes_.push_back(prior.shape());
    for (std::size_t i = 0; i < prior.size(); ++i) {
      Support s = prior.support(i);
      if (prior.categories() > 0) s = {0, static_cast<double>(prior.categories() - 1), true};
      const bool low = std::isfinite(s.low), high = std::isfinite(s.high);
      const Kind kind = s.discrete && s.high - s.low < kMostFew ? Kind::kCategory
                        : s.discrete                            ? Kind::kWhole
                        : low && high                           ? Kind::kBounded
                        : low                                   ? Kind::kPositive
                                                                : Kind::kReal;
      if (!s.discrete) real_.push_back(coordinates_.size());
      coordinates_.push_back({kind, s.low, s.high});
    }
  }
  for (const std::vector<Value>& draw : draws) {
    std::vector<double> centre;
    for (const Value& value : draw) {
      for (const double x : value) {
        centre.push_back(forward(coordinates_[centre.size()], x, nullptr));
      }
    }
    centres_.push_back(std::move(centre));
  }
  fit_kernel();
}

// Silverman's width; a direction without spread keeps some of its own.
void ParameterDensity::fit_kernel() {
  const std::size_t d = real_.size();
  const auto n = static_cast<double>(centres_.size());
  std::vector<double> mean(coordinates_.size()), covariance(d * d);
  for (const auto& centre : centres_) {
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += centre[i] / n;
  }
  for (const auto& centre : centres_) {
    for (std::size_t i = 0; i < d; ++i) {
      for (std::size_t j = 0; j < d; ++j) {
        covariance[i * d + j] +=
            (centre[real_[i]] - mean[real_[i]]) * (centre[real_[j]] - mean[real_[j]]) / n;
      }
    }
    for (std::size_t i = 0; i < mean.size(); ++i) {
      if (coordinates_[i].kind == Kind::kWhole) {
        coordinates_[i].width += (centre[i] - mean[i]) * (centre[i] - mean[i]) / n;
      }
    }
  }
  const auto size = static_cast<double>(std::max<std::size_t>(1, d));
  const double width = std::pow(4 / (n * (size + 2)), 1 / (size + 4));
  for (Coordinate& c : coordinates_) {
    c.width = std::max(0.5, width * std::sqrt(c.width));
  }
  lower_.assign(d * d, 0.0);
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = covariance[i * d + j] * width * width;
      const double least = i == j ? 1e-6 * sum + 1e-12 : 0;
      for (std::size_t k = 0; k < j; ++k) sum -= lower_[i * d + k] * lower_[j * d + k];
      lower_[i * d + j] = i == j ? std::sqrt(std::max(sum, least)) : sum / lower_[j * d + j];
    }
  }
}

double ParameterDensity::forward(const Coordinate& c, double x, double* log_volume) const {
  double volume = 0, u = x;
  if (c.kind == Kind::kPositive) {
    u = std::log(x - c.low);
    volume = -u;
  } else if (c.kind == Kind::kBounded) {
    const double a = std::log(x - c.low), b = std::log(c.high - x);
    u = a - b;
    volume = std::log(c.high - c.low) - a - b;
  }
  if (log_volume) *log_volume += volume;
  return u;
}

double ParameterDensity::back(const Coordinate& c, double u) const {
  if (c.kind == Kind::kPositive) return c.low + std::exp(u);
  if (c.kind == Kind::kBounded) return c.low + (c.high - c.low) / (1 + std::exp(-u));
  return u;
}

std::vector<Value> ParameterDensity::draw(Rng& rng) const {
  std::vector<double> x = centres_[rng.below(centres_.size())];
  std::vector<double> z(real_.size());
  rng.normals(z);
  for (std::size_t i = 0; i < z.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) x[real_[i]] += lower_[i * z.size() + j] * z[j];
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Coordinate& c = coordinates_[i];
    const auto others = static_cast<std::uint64_t>(std::max(0.0, c.high - c.low));
    if (c.kind == Kind::kWhole) {
      x[i] = std::round(x[i] + c.width * rng.normal());
    } else if (c.kind == Kind::kCategory && others > 0 && rng.uniform() < kOtherCategory) {
      const double other = c.low + static_cast<double>(rng.below(others));
      x[i] = other >= x[i] ? other + 1 : other;
    }
    x[i] = back(c, x[i]);
  }
  std::vector<Value> values;
  auto at = x.begin();
  for (const Shape& shape : shapes_) {
    const auto end = at + static_cast<std::ptrdiff_t>(element_count(shape));
    values.push_back(shape.empty() ? Value(*at) : Value(std::vector<double>(at, end), shape));
    at = end;
  }
  return values;
}

double ParameterDensity::log_kernel(const std::vector<double>& centre,
                                    const std::vector<double>& u) const {
  double sum = 0;
  const std::size_t d = real_.size();
  std::vector<double> z(d);
  for (std::size_t i = 0; i < d; ++i) {
    z[i] = u[real_[i]] - centre[real_[i]];
    for (std::size_t j = 0; j < i; ++j) z[i] -= lower_[i * d + j] * z[j];
    z[i] /= lower_[i * d + i];
    sum -= 0.5 * z[i] * z[i] + kLogRootTwoPi + std::log(lower_[i * d + i]);
  }
  for (std::size_t i = 0; i < u.size(); ++i) {
    const Coordinate& c = coordinates_[i];
    const double off = u[i] - centre[i], others = c.high - c.low;
    if (c.kind == Kind::kWhole) {
      sum += std::log(normal_share((off - 0.5) / c.width, (off + 0.5) / c.width));
    } else if (c.kind == Kind::kCategory && others > 0) {
      sum += off == 0 ? std::log1p(-kOtherCategory) : std::log(kOtherCategory / others);
    }
  }
  return sum;
}

double ParameterDensity::log_density(std::span<const Value> at) const {
  std::vector<double> u;
  double log_volume = 0;
  for (const Value& value : at) {
    for (const double x : value) u.push_back(forward(coordinates_[u.size()], x, &log_volume));
  }
  std::vector<double> each;
  for (const auto& centre : centres_) each.push_back(log_kernel(centre, u));
  return log_sum_exp(each) - std::log(static_cast<double>(each.size())) + log_volume;
}

}  // namespace psn
