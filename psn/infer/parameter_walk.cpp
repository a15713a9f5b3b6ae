#include "psn/infer/parameter_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "psn/base/error.h"

namespace psn {
namespace {

constexpr double kMostCategories = 20;
constexpr double kWalkAcceptance = 0.234;
constexpr double kUpdatesBefore = 20;  // that the first scales count for

constexpr double kFarBelowMean = 50;  // nats
constexpr double kMostLogScale = 0.5;

void append_distribution(const Distribution& d, std::vector<double>& out) {
  const auto parameters = parameters_of(d);
  const auto components = components_of(d);
  out.insert(out.end(), {static_cast<double>(d.family()), static_cast<double>(parameters.size()),
                         static_cast<double>(components.size())});
  for (const Value& p : parameters) {
    const Shape shape = p.shape();
    out.push_back(static_cast<double>(shape.size()));
    out.insert(out.end(), shape.begin(), shape.end());
    out.insert(out.end(), p.begin(), p.end());
  }
  for (const Distribution& component : components) append_distribution(component, out);
}

// Numbers one after the other.
class NumberReader {
 public:
  explicit NumberReader(std::span<const double> numbers) : numbers_(numbers) {}
  double next() {
    if (at_ == numbers_.size()) throw DataError("too few numbers of a walk");
    return numbers_[at_++];
  }
  std::size_t count() {
    const double x = next();
    if (!(x >= 0 && x <= 1e6)) throw DataError("no count");
    return static_cast<std::size_t>(x);
  }
  Distribution distribution() {
    const auto family = find_family(static_cast<std::uint8_t>(count() & 0xff));
    if (!family) throw DataError("no family");
    const std::size_t parameters = count(), components = count();
    std::vector<Value> values;
    for (std::size_t p = 0; p < parameters; ++p) {
      Shape shape(count());
      for (auto& extent : shape) extent = static_cast<std::int64_t>(count());
      std::vector<double> x(element_count(shape));
      for (double& each : x) each = next();
      values.push_back(shape.empty() ? Value(x[0]) : Value(std::move(x), shape));
    }
    std::vector<Distribution> parts;
    for (std::size_t c = 0; c < components; ++c) parts.push_back(distribution());
    return make_distribution(*family, std::move(values), std::move(parts));
  }

 private:
  std::span<const double> numbers_;
  std::size_t at_ = 0;
};

std::vector<double> components_of_all(std::span<const Value> values) {
  std::vector<double> all;
  for (const Value& value : values) all.insert(all.end(), value.begin(), value.end());
  return all;
}

}  // namespace

ParameterWalk::ParameterWalk(std::span<const Distribution> priors,
                             std::span<const std::string> names)
    : priors_(priors.begin(), priors.end()) {
  Rng any(0);
  for (const Distribution& prior : priors) least_prior_ += prior.log_prob(prior.draw(any));
  least_prior_ -= kFarBelowMean;
  for (std::size_t p = 0; p < priors.size(); ++p) {
    const Distribution& prior = priors[p];
    if (prior.on_simplex()) {
      throw InvalidArgument(fmt::format(
          "`parameters` '{}': the components of a {} hang together, so no walk moves them",
          names[p], family_name(prior.family())));
    }
    const Value variance = prior.categories() > 0 ? Value(1.0) : prior.variance();
    const Value mean = prior.categories() > 0 ? Value(0.0) : prior.mean();
    for (std::size_t i = 0; i < prior.size(); ++i) {
      Support support = prior.support(i);
      if (prior.categories() > 0) support = {0, static_cast<double>(prior.categories() - 1), true};
      const double sd = std::sqrt(variance[i]);
      Coordinate c{Kind::kReal, support.low, support.high, std::isfinite(sd) && sd > 0 ? sd : 1};
      if (support.discrete) {
        const bool few = support.high - support.low < kMostCategories;
        c.kind = few ? Kind::kCategory : Kind::kWhole;
      } else if (support.low == 0 && support.high == std::numeric_limits<double>::infinity()) {
        c.kind = Kind::kPositive;
        c.scale = std::min(1.0, c.scale / std::max(std::abs(mean[i]), 1e-300));
      }
      c.scale /= 2;
      coordinates_.push_back(c);
    }
  }
  for (std::size_t i = 0; i < coordinates_.size(); ++i) {
    if (coordinates_[i].kind != Kind::kCategory) walking_.push_back(i);
  }
  const std::size_t d = walking_.size();
  covariance_.assign(d * d, 0.0);
  for (std::size_t i = 0; i < d; ++i) {
    covariance_[i * d + i] = coordinates_[walking_[i]].scale * coordinates_[walking_[i]].scale;
  }
}

std::vector<double> ParameterWalk::walking(std::span<const double> components) const {
  std::vector<double> u;
  for (const std::size_t i : walking_) {
    const bool positive = coordinates_[i].kind == Kind::kPositive;
    u.push_back(positive ? std::log(components[i]) : components[i]);
  }
  return u;
}

// Cholesky's; a direction in which the chain has not moved keeps a thousandth of its first scale.
std::vector<double> ParameterWalk::factor() const {
  const std::size_t d = walking_.size();
  std::vector<double> lower(d * d, 0.0);
  for (std::size_t i = 0; i < d; ++i) {
    const double least = std::pow(coordinates_[walking_[i]].scale * 1e-3, 2);
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = covariance_[i * d + j] + (i == j ? least : 0);
      for (std::size_t k = 0; k < j; ++k) sum -= lower[i * d + k] * lower[j * d + k];
      lower[i * d + j] = i == j ? std::sqrt(std::max(sum, least)) : sum / lower[j * d + j];
    }
  }
  return lower;
}

double ParameterWalk::log_prior(std::span<const Value> at) const {
  double sum = 0;
  for (std::size_t i = 0; i < priors_.size(); ++i) sum += priors_[i].log_prob(at[i]);
  return std::max(sum, least_prior_);
}

ParameterWalk::Step ParameterWalk::propose(std::span<const Value> from, Rng& rng) const {
  const std::vector<double> before = components_of_all(from);
  std::vector<double> after = before;
  Step step;
  if (const std::size_t d = walking_.size(); d > 0) {
    const std::vector<double> lower = factor();
    const double scale = std::exp(log_scale_) * 2.38 / std::sqrt(static_cast<double>(d));
    std::vector<double> z(d), u = walking(before);
    rng.normals(z);
    for (std::size_t i = 0; i < d; ++i) {
      for (std::size_t j = 0; j <= i; ++j) u[i] += scale * lower[i * d + j] * z[j];
      const Kind kind = coordinates_[walking_[i]].kind;
      double& x = after[walking_[i]];
      const double old = x;
      x = kind == Kind::kPositive ? std::exp(u[i]) : kind == Kind::kWhole ? std::round(u[i]) : u[i];
      if (kind == Kind::kPositive) step.log_ratio += std::log(x) - std::log(old);
    }
  }
  const bool all_categories = walking_.empty() && !coordinates_.empty();
  do {
    for (std::size_t i = 0; i < coordinates_.size(); ++i) {
      const Coordinate& c = coordinates_[i];
      if (c.kind != Kind::kCategory || before[i] < c.low || before[i] > c.high) continue;
      const auto others = static_cast<std::uint64_t>(c.high - c.low);
      if (others == 0 || rng.uniform() < 0.5) continue;
      after[i] = c.low + static_cast<double>(rng.below(others));
      if (after[i] >= before[i]) after[i] += 1;
    }
    // What does not move need not be run; where nothing can move it is no walk.
  } while (all_categories && coordinates_.size() == 1 &&
           coordinates_[0].high > coordinates_[0].low && after == before);
  std::size_t at = 0;
  for (const Value& value : from) {
    std::vector<double> x(after.begin() + static_cast<std::ptrdiff_t>(at),
                          after.begin() + static_cast<std::ptrdiff_t>(at + value.size()));
    step.to.push_back(value.shape().empty() ? Value(x[0]) : Value(std::move(x), value.shape()));
    at += value.size();
  }
  return step;
}

void ParameterWalk::adapt(double acceptance, std::span<const Value> at) {
  const std::size_t d = walking_.size();
  if (d == 0) return;
  const std::vector<double> u = walking(components_of_all(at));
  updates_ += 1;
  log_scale_ += (acceptance - kWalkAcceptance) * 2 * std::pow(updates_, -0.6);
  log_scale_ = std::min(log_scale_, kMostLogScale);
  if (mean_.empty()) mean_ = u;
  const double gain = std::pow(updates_ + kUpdatesBefore, -0.7);
  std::vector<double> off(d);
  for (std::size_t i = 0; i < d; ++i) off[i] = u[i] - mean_[i];
  for (std::size_t i = 0; i < d; ++i) {
    mean_[i] += gain * off[i];
    for (std::size_t j = 0; j < d; ++j) {
      double& c = covariance_[i * d + j];
      c += gain * (off[i] * off[j] - c);
    }
  }
}

std::vector<double> ParameterWalk::numbers() const {
  std::vector<double> all{static_cast<double>(priors_.size()),
                          least_prior_,
                          log_scale_,
                          updates_,
                          static_cast<double>(coordinates_.size()),
                          static_cast<double>(mean_.size())};
  for (const Distribution& prior : priors_) append_distribution(prior, all);
  for (const Coordinate& c : coordinates_) {
    all.insert(all.end(), {static_cast<double>(c.kind), c.low, c.high, c.scale});
  }
  all.insert(all.end(), mean_.begin(), mean_.end());
  all.insert(all.end(), covariance_.begin(), covariance_.end());
  return all;
}

ParameterWalk::ParameterWalk(std::span<const double> numbers) {
  NumberReader from(numbers);
  const std::size_t priors = from.count();
  least_prior_ = from.next();
  log_scale_ = from.next();
  updates_ = from.next();
  const std::size_t coordinates = from.count(), means = from.count();
  for (std::size_t i = 0; i < priors; ++i) priors_.push_back(from.distribution());
  for (std::size_t i = 0; i < coordinates; ++i) {
    const std::size_t kind = from.count();
    if (kind > static_cast<std::size_t>(Kind::kCategory)) throw DataError("unknown coordinate");
    Coordinate c{static_cast<Kind>(kind)};
    c.low = from.next();
    c.high = from.next();
    c.scale = from.next();
    if (c.kind != Kind::kCategory) walking_.push_back(i);
    coordinates_.push_back(c);
  }
  for (std::size_t i = 0; i < means; ++i) mean_.push_back(from.next());
  for (std::size_t left = walking_.size() * walking_.size(); left > 0; --left) {
    covariance_.push_back(from.next());
  }
}

}  // namespace psn
