#include "psn/nn/proposal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "psn/base/numerics.h"

namespace psn {
namespace {

// The model's distribution of one component, as proposals see it: in log x for kPositive.
struct Base {
  double location = 0, scale = 1;
  double low = -kInfinity, high = kInfinity;
};

double positive_or(double x, double otherwise) {
  return x > 0 && std::isfinite(x) ? x : otherwise;
}

// The log-normal distribution with this mean and variance.
Base match_logarithm(double mean, double variance) {
  mean = positive_or(mean, 1);
  const double spread = std::log1p(positive_or(variance / (mean * mean), 1e6));
  return {std::log(mean) - 0.5 * spread, std::sqrt(spread)};
}

double component_of(const Value& value, std::size_t i) {
  return value[value.size() == 1 ? 0 : i];
}

class Bases {
 public:
  Bases(ProposalKind kind, const Distribution& p) : kind_(kind), p_(p) {
    if (const auto* normal = std::get_if<Normal>(&p.variant())) {
      take(*normal);
    } else if (const auto* log_normal = std::get_if<LogNormal>(&p.variant())) {
      take(*log_normal);
    } else {
      mean_ = p.mean();
      spread_ = p.variance();
    }
  }

  Base operator[](std::size_t i) const {
    const double mean = component_of(mean_, i), spread = component_of(spread_, i);
    if (direct_) return {mean, spread};
    if (kind_ == ProposalKind::kPositive) return match_logarithm(mean, spread);
    Base base{mean, positive_or(std::sqrt(spread), 1)};
    if (kind_ == ProposalKind::kReal) return base;
    const Support support = p_.support(i);
    base.low = support.low;
    base.high = support.high;
    if (kind_ == ProposalKind::kInteger) {
      base.scale = std::max(base.scale, 0.5);
      base.low -= 0.5;
      base.high += 0.5;
    }
    return base;
  }

 private:
  // Location and scale are the parameters themselves; a variance might overflow.
  template <class D>
  void take(const D& d) {
    mean_ = d.parameters[0];
    spread_ = d.parameters[1];
    direct_ = true;
  }

  ProposalKind kind_;
  const Distribution& p_;
  Value mean_, spread_;  // spread_: a variance, or if direct_ a scale
  bool direct_ = false;
};

// One Normal of a mixture: two outputs, relative to the base.
struct Part {
  static constexpr float kWidest = 5, kNarrowest = -12;  // log of the scale's ratio

  Part(const Base& base, const float* o)
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

Term density(const Part& part, double x) {
  const double z = (x - part.mean) / part.sd;
  return {-0.5 * z * z - std::log(part.sd) - kLogSqrt2Pi, z, z * z - 1};
}

// log of the mass between two points.
Term mass(const Part& part, double low, double high) {
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

Term log_prob(ProposalKind kind, const Part& part, const Base& base, double x) {
  switch (kind) {
    case ProposalKind::kPositive: {
      if (!(x > 0)) return {-kInfinity};
      Term term = density(part, std::log(x));
      term.value -= std::log(x);
      return term;
    }
    case ProposalKind::kInterval: {
      Term term = density(part, x);
      term -= mass(part, base.low, base.high);
      return term;
    }
    case ProposalKind::kInteger: {
      Term term = mass(part, x - 0.5, x + 0.5);
      term -= mass(part, base.low, base.high);
      return term;
    }
    default:
      return density(part, x);
  }
}

// Off the ends of an interval, where the model's density may be infinite.
double inside(const Base& base, double x) {
  const double low = std::nextafter(base.low, base.high);
  const double high = std::nextafter(base.high, base.low);
  return low <= high ? std::clamp(x, low, high) : x;
}

double draw(ProposalKind kind, const Part& part, const Base& base, Rng& rng) {
  switch (kind) {
    case ProposalKind::kPositive:
      return family::LogNormal::draw({part.mean, part.sd}, rng);
    case ProposalKind::kInterval:
      return inside(base,
                    family::TruncatedNormal::draw({part.mean, part.sd, base.low, base.high}, rng));
    case ProposalKind::kInteger: {
      const double x =
          family::TruncatedNormal::draw({part.mean, part.sd, base.low, base.high}, rng);
      return std::clamp(std::floor(x + 0.5), base.low + 0.5, base.high - 0.5);
    }
    default:
      return family::Normal::draw({part.mean, part.sd}, rng);
  }
}

// Of each part of a mixture for a short vector of reals: how a component's mean follows those
// before it, so that a part can be any Normal. 0: components are independent within a part.
std::size_t slopes(const ProposalType& type) {
  constexpr std::size_t kMost = 32;
  const bool correlated = type.kind == ProposalKind::kReal && type.size > 1 && type.size <= kMost;
  return correlated ? type.size * (type.size - 1) / 2 : 0;
}

// Where the outputs of a mixture are: the logits of p and of each part, the parts, and then the
// slopes of each part.
std::size_t part_place(const ProposalType& type, std::size_t part, std::size_t i) {
  return 1 + type.mixture + 2 * (part * type.size + i);
}

std::size_t slope_place(const ProposalType& type, std::size_t part, std::size_t i) {
  return 1 + type.mixture * (1 + 2 * type.size) + part * slopes(type) +
         (slopes(type) ? i * (i - 1) / 2 : 0);
}

// One part of a mixture, component after component: given those before, a component's mean moves by
// its slopes times how far they were from their means, in units of p.
class Regression {
 public:
  Regression(const ProposalType& type, const Bases& bases, const float* outputs, std::size_t part)
      : type_(type), bases_(bases), outputs_(outputs), part_(part), distance_(type.size) {}

  Part given_those_before(std::size_t i) const {
    Part part(bases_[i], outputs_ + part_place(type_, part_, i));
    for (std::size_t j = 0; slopes(type_) && j < i; ++j) {
      part.mean += part.unit * outputs_[slope_place(type_, part_, i) + j] * distance_[j];
    }
    return part;
  }
  void take(std::size_t i, double x) {
    const Part part(bases_[i], outputs_ + part_place(type_, part_, i));
    distance_[i] = (x - part.mean) / part.unit;
  }
  // Adds the derivatives of the component's term of log q, to where the outputs are.
  void add_slopes(std::size_t i, const Part& part, const Term& term,
                  std::vector<double>& by_output) const {
    const std::size_t at = part_place(type_, part_, i);
    const double by_mean = term.by_mean * part.unit / part.sd;
    by_output[at] += by_mean;
    const float log_sd = outputs_[at + 1];
    const bool clamped = log_sd < Part::kNarrowest || log_sd > Part::kWidest;
    by_output[at + 1] = clamped ? 0 : term.by_log_sd;
    for (std::size_t j = 0; slopes(type_) && j < i; ++j) {
      const std::size_t slope = slope_place(type_, part_, i) + j;
      by_output[slope] = by_mean * distance_[j];
      by_output[part_place(type_, part_, j)] -= by_mean * outputs_[slope];
    }
  }

 private:
  const ProposalType& type_;
  const Bases& bases_;
  const float* outputs_;
  std::size_t part_;
  std::vector<double> distance_;
};

double mixture_log_prob(const ProposalType& type, const Distribution& p, const float* outputs,
                        const Value& x, double log_p, float* gradient) {
  const std::size_t k = type.mixture, n = type.size;
  const Bases bases(type.kind, p);
  std::vector<double> logits(outputs, outputs + k + 1), log_terms(k + 1);
  std::vector<double> by_output(gradient ? type.outputs() : 0);
  const double log_z = log_sum_exp(logits);
  log_terms[0] = logits[0] - log_z + log_p;
  for (std::size_t c = 0; c < k; ++c) {
    double& log_term = log_terms[c + 1];
    log_term = logits[c + 1] - log_z;
    Regression regression(type, bases, outputs, c);
    for (std::size_t i = 0; i < n; ++i) {
      const Part part = regression.given_those_before(i);
      const Term term = log_prob(type.kind, part, bases[i], x[i]);
      log_term += term.value;
      if (gradient) regression.add_slopes(i, part, term, by_output);
      regression.take(i, x[i]);
    }
  }
  const double log_q = log_sum_exp(log_terms);
  if (!gradient) return log_q;
  for (std::size_t c = 0; c <= k; ++c) {
    const double share = std::exp(log_terms[c] - log_q);
    gradient[c] = static_cast<float>(std::exp(logits[c] - log_z) - share);
    if (c == 0) continue;
    const auto write = [&](std::size_t first, std::size_t count) {
      for (std::size_t at = first; at < first + count; ++at) {
        gradient[at] = share > 0 ? static_cast<float>(-share * by_output[at]) : 0.0f;
      }
    };
    write(part_place(type, c - 1, 0), 2 * n);
    write(slope_place(type, c - 1, 1), slopes(type));
  }
  return log_q;
}

Value mixture_draw(const ProposalType& type, const Distribution& p, const float* outputs,
                   Rng& rng) {
  const std::size_t k = type.mixture;
  const float largest = *std::max_element(outputs, outputs + k + 1);
  double total = 0;
  for (std::size_t c = 0; c <= k; ++c) total += std::exp(outputs[c] - largest);
  double left = rng.uniform() * total;
  std::size_t chosen = 0;
  for (; chosen < k; ++chosen) {
    left -= std::exp(outputs[chosen] - largest);
    if (left < 0) break;
  }
  if (chosen == 0) return p.draw(rng);
  const Bases bases(type.kind, p);
  Regression regression(type, bases, outputs, chosen - 1);
  std::vector<double> x(type.size);
  for (std::size_t i = 0; i < type.size; ++i) {
    x[i] = draw(type.kind, regression.given_those_before(i), bases[i], rng);
    regression.take(i, x[i]);
  }
  return p.is_scalar() ? Value(x[0]) : Value(std::move(x), p.shape());
}

// Calls visit(row, weights) with the probabilities of each component, tilted by the outputs.
template <class Visit>
void each_tilted(const ProposalType& type, const Distribution& p, const float* outputs,
                 Visit visit) {
  const std::size_t k = type.categories;
  std::vector<double> weights(k);
  for (std::size_t row = 0; row < type.size; ++row) {
    const float* o = outputs + row * k;
    const double largest = *std::max_element(o, o + k);
    const auto prior = [&](std::size_t c) {
      if (const auto* d = std::get_if<Categorical>(&p.variant())) return d->probs[row * k + c];
      const double one = component_of(std::get<Bernoulli>(p.variant()).parameters[0], row);
      return c == 1 ? one : 1 - one;
    };
    double total = 0;
    for (std::size_t c = 0; c < k; ++c) total += weights[c] = prior(c) * std::exp(o[c] - largest);
    if (!(total > 0)) {  // only what the outputs all but exclude is possible
      for (std::size_t c = 0; c < k; ++c) total += weights[c] = prior(c);
    }
    for (double& w : weights) w /= total;
    visit(row, weights);
  }
}

}  // namespace

ProposalKind proposal_kind(Family family) {
  constexpr std::array kKinds{
      ProposalKind::kReal,        // Normal
      ProposalKind::kInterval,    // Uniform
      ProposalKind::kCategories,  // Categorical
      ProposalKind::kInteger,     // Poisson
      ProposalKind::kCategories,  // Bernoulli
      ProposalKind::kInterval,    // Beta
      ProposalKind::kPositive,    // Exponential
      ProposalKind::kPositive,    // Gamma
      ProposalKind::kPositive,    // LogNormal
      ProposalKind::kInteger,     // Binomial
      ProposalKind::kPositive,    // Weibull
      ProposalKind::kInterval,    // TruncatedNormal
      ProposalKind::kReal,        // Mixture
  };
  static_assert(kKinds.size() == std::variant_size_v<Distribution::Variant>);
  return kKinds[static_cast<std::size_t>(family)];
}

bool has_proposal(const Distribution& p) {
  return !(p.family() == Family::kMixture && p.discrete());
}

ProposalType proposal_type(const ValueType& value, std::size_t mixture) {
  const ProposalKind kind = proposal_kind(value.family);
  if (kind == ProposalKind::kCategories) {
    const bool two = value.family == Family::kBernoulli;
    return {kind, value.components(), two ? 2 : value.categories, 0};
  }
  return {kind, value.components(), 0, mixture};
}

std::size_t ProposalType::outputs() const {
  return kind == ProposalKind::kCategories ? size * categories
                                           : 1 + mixture * (1 + 2 * size + slopes(*this));
}

double proposal_log_prob(const ProposalType& type, const Distribution& p, const float* outputs,
                         const Value& x, double log_p, float* gradient) {
  if (type.kind != ProposalKind::kCategories) {
    return mixture_log_prob(type, p, outputs, x, log_p, gradient);
  }
  double log_q = 0;
  each_tilted(type, p, outputs, [&](std::size_t row, const std::vector<double>& weights) {
    const auto drawn = static_cast<std::size_t>(x[row]);
    log_q += std::log(weights[drawn]);
    if (!gradient) return;
    for (std::size_t c = 0; c < weights.size(); ++c) {
      gradient[row * weights.size() + c] = static_cast<float>(weights[c] - (c == drawn));
    }
  });
  return log_q;
}

Value proposal_draw(const ProposalType& type, const Distribution& p, const float* outputs,
                    Rng& rng) {
  if (type.kind != ProposalKind::kCategories) return mixture_draw(type, p, outputs, rng);
  std::vector<double> drawn(type.size);
  each_tilted(type, p, outputs, [&](std::size_t row, const std::vector<double>& weights) {
    double left = rng.uniform();
    std::size_t last = 0;  // with positive probability: rounding never leads past it
    for (std::size_t c = 0; c < weights.size(); ++c) {
      if (weights[c] > 0) last = c;
      left -= weights[c];
      if (left < 0) break;
    }
    drawn[row] = static_cast<double>(last);
  });
  return p.is_scalar() ? Value(drawn[0]) : Value(std::move(drawn), p.shape());
}

}  // namespace psn
