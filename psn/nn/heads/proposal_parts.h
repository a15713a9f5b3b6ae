// What the mixtures of proposals are made of: parts relative to the model's distribution, one
// component after the other. Internal to psn/nn/heads/proposal.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "psn/base/numerics.h"
#include "psn/core/free_coordinates.h"
#include "psn/nn/heads/proposal.h"

namespace psn::proposals {

// The model's distribution of one component, as proposals see it: in log x for kPositive.
struct ModelComponent {
  double location = 0, scale = 1;
  double low = -kInfinity, high = kInfinity;
};

inline double positive_or(double x, double otherwise) {
  return x > 0 && std::isfinite(x) ? x : otherwise;
}

// The log-normal distribution with this mean and variance.
inline ModelComponent match_logarithm(double mean, double variance) {
  mean = positive_or(mean, 1);
  const double spread = std::log1p(positive_or(variance / (mean * mean), 1e6));
  return {std::log(mean) - 0.5 * spread, std::sqrt(spread)};
}

inline double component_of(const Value& value, std::size_t i) {
  return value[value.size() == 1 ? 0 : i];
}

// Of the components, or of free coordinates, which are standard under p.
class ModelComponents {
 public:
  ModelComponents(Domain kind, const Distribution& p) : kind_(kind), p_(p) {
    free_ = degrees_of_freedom(p.family(), p.size()).has_value();
    if (free_) return;
    const FamilyInfo& declared = info(p.family());
    // Location and scale are the parameters themselves; a variance might overflow.
    direct_ = declared.has(family::Role::kLocation) && declared.has(family::Role::kScale) &&
              !declared.has(family::Role::kLow);
    mean_ = direct_ ? parameter(p, family::Role::kLocation) : p.mean();
    spread_ = direct_ ? parameter(p, family::Role::kScale) : p.variance();
  }

  ModelComponent operator[](std::size_t i) const {
    if (free_) return {};
    const double mean = component_of(mean_, i), spread = component_of(spread_, i);
    if (direct_) return {mean, spread};
    if (kind_ == Domain::kPositive) return match_logarithm(mean, spread);
    ModelComponent base{mean, positive_or(std::sqrt(spread), 1)};
    if (kind_ == Domain::kReal) return base;
    const Support support = p_.support(i);
    base.low = support.low;
    base.high = support.high;
    if (kind_ == Domain::kInteger) {
      base.scale = std::max(base.scale, 0.5);
      base.low -= 0.5;
      base.high += 0.5;
    }
    return base;
  }

 private:
  Domain kind_;
  const Distribution& p_;
  Value mean_, spread_;  // spread_: a variance, or if direct_ a scale
  bool direct_ = false, free_ = false;
};

// One Normal of a mixture: two outputs, relative to the base.
struct NormalPart {
  static constexpr float kWidest = 5, kNarrowest = -12;  // log of the scale's ratio

  NormalPart(const ModelComponent& base, const float* o)
      : unit(base.scale),
        mean(base.location + base.scale * o[0]),
        sd(base.scale * std::exp(std::clamp(o[1], kNarrowest, kWidest))) {}

  double unit, mean, sd;
};

// A term of log q and its derivatives by mean (in units of the part's sd) and by log sd.
struct Term {
  double value = 0, by_mean = 0, by_log_sd = 0;
  Term& operator-=(const Term& other) {
    value -= other.value;
    by_mean -= other.by_mean;
    by_log_sd -= other.by_log_sd;
    return *this;
  }
};

inline Term density(const NormalPart& part, double x) {
  const double z = (x - part.mean) / part.sd;
  return {-0.5 * z * z - std::log(part.sd) - kLogSqrt2Pi, z, z * z - 1};
}

// log of the mass between two points.
inline Term mass(const NormalPart& part, double low, double high) {
  const double a = (low - part.mean) / part.sd, b = (high - part.mean) / part.sd;
  Term term{log_normal_interval(a, b)};
  const auto edge = [&](double z, double sign) {
    if (!std::isfinite(z)) return;
    const double phi = sign * std::exp(-0.5 * z * z - kLogSqrt2Pi - term.value);
    term.by_mean += phi;
    term.by_log_sd += z * phi;
  };
  edge(a, 1);
  edge(b, -1);
  return term;
}

inline Term log_prob(Domain kind, const NormalPart& part, const ModelComponent& base, double x) {
  switch (kind) {
    case Domain::kPositive: {
      if (!(x > 0)) return {-kInfinity};
      Term term = density(part, std::log(x));
      term.value -= std::log(x);
      return term;
    }
    case Domain::kInterval: {
      Term term = density(part, x);
      term -= mass(part, base.low, base.high);
      return term;
    }
    case Domain::kInteger: {
      Term term = mass(part, x - 0.5, x + 0.5);
      term -= mass(part, base.low, base.high);
      return term;
    }
    default:
      return density(part, x);
  }
}

// Off the ends of an interval, where the model's density may be infinite.
inline double inside(const ModelComponent& base, double x) {
  const double low = std::nextafter(base.low, base.high);
  const double high = std::nextafter(base.high, base.low);
  return low <= high ? std::clamp(x, low, high) : x;
}

inline double draw(Domain kind, const NormalPart& part, const ModelComponent& base, Rng& rng) {
  switch (kind) {
    case Domain::kPositive:
      return family::LogNormal::draw({part.mean, part.sd}, rng);
    case Domain::kInterval:
      return inside(base,
                    family::TruncatedNormal::draw({part.mean, part.sd, base.low, base.high}, rng));
    case Domain::kInteger: {
      const double x =
          family::TruncatedNormal::draw({part.mean, part.sd, base.low, base.high}, rng);
      return std::clamp(std::floor(x + 0.5), base.low + 0.5, base.high - 0.5);
    }
    default:
      return family::Normal::draw({part.mean, part.sd}, rng);
  }
}

// Of each part of a mixture for a short vector of reals or of log odds: how a component's mean
// follows those before it, so that a part can be any Normal. 0: components are independent within a
// part.
inline std::size_t slopes(const ProposalType& type) {
  constexpr std::size_t kMost = 32;
  const bool reals = type.kind == Domain::kReal || type.kind == Domain::kSimplex;
  const bool correlated = reals && type.size > 1 && type.size <= kMost;
  return correlated ? type.size * (type.size - 1) / 2 : 0;
}

// Where the outputs of a mixture are: the logits of p and of each part, the parts, and then the
// slopes of each part.
inline std::size_t part_place(const ProposalType& type, std::size_t part, std::size_t i) {
  return 1 + type.mixture + 2 * (part * type.size + i);
}

inline std::size_t slope_place(const ProposalType& type, std::size_t part, std::size_t i) {
  return 1 + type.mixture * (1 + 2 * type.size) + part * slopes(type) +
         (slopes(type) ? i * (i - 1) / 2 : 0);
}

// One part of a mixture, component after component: given those before, a component's mean moves by
// its slopes times how far they were from their means, in units of p.
class Regression {
 public:
  Regression(const ProposalType& type, const ModelComponents& bases, const float* outputs,
             std::size_t part)
      : type_(type), bases_(bases), outputs_(outputs), part_(part), distance_(type.size) {}

  NormalPart given_those_before(std::size_t i) const {
    NormalPart part(bases_[i], outputs_ + part_place(type_, part_, i));
    for (std::size_t j = 0; slopes(type_) && j < i; ++j) {
      part.mean += part.unit * outputs_[slope_place(type_, part_, i) + j] * distance_[j];
    }
    return part;
  }
  void take(std::size_t i, double x) {
    const NormalPart part(bases_[i], outputs_ + part_place(type_, part_, i));
    distance_[i] = (x - part.mean) / part.unit;
  }
  // Adds the derivatives of the component's term of log q, to where the outputs are.
  void add_slopes(std::size_t i, const NormalPart& part, const Term& term,
                  std::vector<double>& by_output) const {
    const std::size_t at = part_place(type_, part_, i);
    const double by_mean = term.by_mean * part.unit / part.sd;
    by_output[at] += by_mean;
    const float log_sd = outputs_[at + 1];
    const bool clamped = log_sd < NormalPart::kNarrowest || log_sd > NormalPart::kWidest;
    by_output[at + 1] = clamped ? 0 : term.by_log_sd;
    for (std::size_t j = 0; slopes(type_) && j < i; ++j) {
      const std::size_t slope = slope_place(type_, part_, i) + j;
      by_output[slope] = by_mean * distance_[j];
      by_output[part_place(type_, part_, j)] -= by_mean * outputs_[slope];
    }
  }

 private:
  const ProposalType& type_;
  const ModelComponents& bases_;
  const float* outputs_;
  std::size_t part_;
  std::vector<double> distance_;
};

}  // namespace psn::proposals
