// The ends of a Uniform. Internal to psn/nn.
#pragma once

#include <tuple>

#include "psn/nn/heads/componentwise.h"

namespace psn::heads {

// The ends are known exactly if they never change. Otherwise the outputs are the ends as
// logistic positions within the widest range seen, learned by regression on the simulator's own;
// the distribution is widened a little and mixed with the whole range, so that a value just outside
// the prediction does not have probability zero.
struct Ends {
  static constexpr double kWiden = 0.01, kWhole = 1e-3;
  static std::pair<double, double> ends(const float* o, const Unit& u) {
    const double a = u.low + (u.high - u.low) * sigmoid(o[0]);
    const double b = u.low + (u.high - u.low) * sigmoid(o[1]);
    const double width = std::max(std::abs(b - a), 1e-6 * (u.high - u.low));
    return {std::max(u.low, std::min(a, b) - kWiden * width),
            std::min(u.high, std::min(a, b) + width * (1 + kWiden))};
  }
  static double log_prob(const float* o, const Unit& u, double x) {
    const auto [a, b] = ends(o, u);
    const double whole = kWhole / (u.high - u.low);
    return std::log(whole + (x >= a && x <= b ? (1 - kWhole) / (b - a) : 0));
  }
  static double loss(const float* o, const Unit& u, double low, double high, double* g) {
    constexpr double kSteepness = 20;  // brings the squared error to the size of nats
    double loss = 0;
    const double targets[2] = {(low - u.low) / (u.high - u.low), (high - u.low) / (u.high - u.low)};
    for (int k = 0; k < 2; ++k) {
      const double p = sigmoid(o[k]);
      const double error = p - targets[k];
      loss += kSteepness * error * error;
      g[k] = 2 * kSteepness * error * p * (1 - p);
    }
    return loss;
  }
};

template <>
struct HeadOf<Uniform> {
  static std::size_t count(const ValueType& type) { return type.components() * 2; }
  static std::vector<Output> outputs(const ValueType& type) {
    return {count(type), {Link::kProbability, Role::kShape, 0}};
  }
  static Distribution distribution(const ValueType& type, const Scaling& scaling, const float* o) {
    const std::size_t n = type.components();
    std::vector<double> low(n, scaling.low), high(n, scaling.high);
    const auto value = [&](const std::vector<double>& v) { return Value(v, type.shape); };
    Distribution whole = Uniform(value(low), value(high));
    if (!scaling.bounds_vary) return whole;
    for (std::size_t i = 0; i < n; ++i) {
      std::tie(low[i], high[i]) = Ends::ends(o + 2 * i, unit_of(scaling, i));
    }
    return Mixture(Value{1 - Ends::kWhole, Ends::kWhole},
                   {Uniform(value(low), value(high)), whole});
  }
  static HeadLoss loss(const ValueType& type, const Scaling& scaling, const float* o,
                       const Value& x, const Distribution* p, float* gradient) {
    HeadLoss result{0, 0};
    double g[2] = {0, 0};
    for (std::size_t i = 0; i < type.components(); ++i) {
      const Unit unit = unit_of(scaling, i);
      if (!scaling.bounds_vary) {
        const double lp = family::Uniform::log_prob({unit.low, unit.high}, x[i]);
        result.log_prob += lp;
        result.loss -= lp;
      } else {
        result.log_prob += Ends::log_prob(o + 2 * i, unit, x[i]);
        if (p) {
          const auto [low, high] = parameters_at(std::get<psn::Uniform>(p->variant()), i);
          result.loss += Ends::loss(o + 2 * i, unit, low, high, g);
        }
      }
      if (gradient) {
        gradient[2 * i] = static_cast<float>(g[0]);
        gradient[2 * i + 1] = static_cast<float>(g[1]);
      }
    }
    return result;
  }
};

}  // namespace psn::heads
