#include "psn/nn/head.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "psn/base/numerics.h"
#include "psn/core/independent.h"
#include "psn/nn/head_kernels.h"

namespace psn {
namespace {

using namespace head_kernels;

Unit unit_of(const Scaling& scaling, std::size_t component) {
  return {scaling.location[component], scaling.scale[component], scaling.low, scaling.high};
}

template <class H, class D>
Distribution build(const ValueType& type, const Scaling& scaling, const float* o) {
  constexpr std::size_t kArity = D::kArity;
  const std::size_t n = type.components();
  std::array<Value, kArity> values;
  if (type.shape.empty()) {
    const auto p = H::parameters(o, unit_of(scaling, 0));
    for (std::size_t k = 0; k < kArity; ++k) values[k] = p[k];
  } else {
    std::array<std::vector<double>, kArity> columns;
    for (auto& column : columns) column.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto p = H::parameters(o + i * H::kOutputs, unit_of(scaling, i));
      for (std::size_t k = 0; k < kArity; ++k) columns[k].push_back(p[k]);
    }
    for (std::size_t k = 0; k < kArity; ++k) values[k] = Value(std::move(columns[k]), type.shape);
  }
  return std::apply([](auto&... v) { return Distribution(D(std::move(v)...)); }, values);
}

template <class H, class D>
HeadLoss independent_loss(const ValueType& type, const Scaling& scaling, const float* o,
                          const Value& x, const Distribution* p, float* gradient) {
  HeadLoss result{0, 0};
  const auto* known = p ? std::get_if<D>(&p->variant()) : nullptr;
  double g[H::kOutputs];
  for (std::size_t i = 0; i < type.components(); ++i) {
    const Unit unit = unit_of(scaling, i);
    const float* out = o + i * H::kOutputs;
    const double nll = H::loss(out, unit, H::statistics(x[i], unit), g);
    result.log_prob -= nll;
    double loss = nll;
    if constexpr (requires { H::expected(parameters_at(*known, i), unit); }) {
      if (known) loss = H::loss(out, unit, H::expected(parameters_at(*known, i), unit), g);
    }
    result.loss += loss;
    if (gradient) {
      for (std::size_t k = 0; k < H::kOutputs; ++k) {
        gradient[i * H::kOutputs + k] = static_cast<float>(g[k]);
      }
    }
  }
  return result;
}

HeadLoss categorical_loss(const ValueType& type, const float* o, const Value& x,
                          const Distribution* p, float* gradient) {
  HeadLoss result{0, 0};
  const auto* known = p ? std::get_if<Categorical>(&p->variant()) : nullptr;
  const std::size_t k = type.categories;
  for (std::size_t row = 0; row < type.components(); ++row) {
    const float* logits = o + row * k;
    const double largest = *std::max_element(logits, logits + k);
    double sum = 0;
    for (std::size_t c = 0; c < k; ++c) sum += std::exp(logits[c] - largest);
    const double log_z = largest + std::log(sum);
    const auto drawn = static_cast<std::size_t>(x[row]);
    result.log_prob += logits[drawn] - log_z;
    const double* weights = known ? known->probs.data() + row * k : nullptr;
    double total = 0;
    if (weights) {
      for (std::size_t c = 0; c < k; ++c) total += weights[c];
    }
    for (std::size_t c = 0; c < k; ++c) {
      const double target = weights ? weights[c] / total : (c == drawn ? 1.0 : 0.0);
      result.loss += target * (log_z - logits[c]);
      if (gradient) {
        gradient[row * k + c] = static_cast<float>(std::exp(logits[c] - log_z) - target);
      }
    }
  }
  return result;
}

HeadLoss uniform_loss(const ValueType& type, const Scaling& scaling, const float* o, const Value& x,
                      const Distribution* p, float* gradient) {
  HeadLoss result{0, 0};
  double g[2] = {0, 0};
  for (std::size_t i = 0; i < type.components(); ++i) {
    const Unit unit = unit_of(scaling, i);
    if (!scaling.bounds_vary) {
      const double lp = family::Uniform::log_prob({unit.low, unit.high}, x[i]);
      result.log_prob += lp;
      result.loss -= lp;
    } else {
      result.log_prob += UniformHead::log_prob(o + 2 * i, unit, x[i]);
      if (p) {
        const auto [low, high] = parameters_at(std::get<Uniform>(p->variant()), i);
        result.loss += UniformHead::loss(o + 2 * i, unit, low, high, g);
      }
    }
    if (gradient) {
      gradient[2 * i] = static_cast<float>(g[0]);
      gradient[2 * i + 1] = static_cast<float>(g[1]);
    }
  }
  return result;
}

// A mixture of normals over the whole value: weights, then means and scales of each component.
HeadLoss mixture_loss(const ValueType& type, const Scaling& scaling, const float* o, const Value& x,
                      float* gradient) {
  const std::size_t k = type.mixture, n = type.components();
  std::vector<double> log_terms(k), g(2 * k * n);
  std::vector<double> weights(o, o + k);
  const double log_z = log_sum_exp(weights);
  for (std::size_t c = 0; c < k; ++c) {
    log_terms[c] = o[c] - log_z;
    for (std::size_t i = 0; i < n; ++i) {
      const Unit unit = unit_of(scaling, i);
      const std::size_t at = 2 * (c * n + i);
      log_terms[c] -=
          NormalHead::loss(o + k + at, unit, NormalHead::statistics(x[i], unit), &g[at]);
    }
  }
  const double log_prob = log_sum_exp(log_terms);
  if (gradient) {
    for (std::size_t c = 0; c < k; ++c) {
      const double share = std::exp(log_terms[c] - log_prob);
      gradient[c] = static_cast<float>(std::exp(o[c] - log_z) - share);
      for (std::size_t j = 0; j < 2 * n; ++j) {
        gradient[k + 2 * c * n + j] = static_cast<float>(share * g[2 * c * n + j]);
      }
    }
  }
  return {-log_prob, log_prob};
}

Distribution mixture_distribution(const ValueType& type, const Scaling& scaling, const float* o) {
  const std::size_t k = type.mixture, n = type.components();
  std::vector<double> weights(o, o + k);
  const double log_z = log_sum_exp(weights);
  for (double& w : weights) w = std::exp(w - log_z);
  std::vector<Distribution> parts;
  const ValueType part{Family::kNormal, type.shape, 0, 0};
  for (std::size_t c = 0; c < k; ++c) {
    parts.push_back(build<NormalHead, Normal>(part, scaling, o + k + 2 * c * n));
  }
  return Mixture(Value(weights), std::move(parts));
}

Distribution uniform_distribution(const ValueType& type, const Scaling& scaling, const float* o) {
  const std::size_t n = type.components();
  std::vector<double> low(n, scaling.low), high(n, scaling.high);
  const auto value = [&](const std::vector<double>& v) { return Value(v, type.shape); };
  const Distribution whole = Uniform(value(low), value(high));
  if (!scaling.bounds_vary) return whole;
  for (std::size_t i = 0; i < n; ++i) {
    std::tie(low[i], high[i]) = UniformHead::ends(o + 2 * i, unit_of(scaling, i));
  }
  return Mixture(Value{1 - UniformHead::kWhole, UniformHead::kWhole},
                 {Uniform(value(low), value(high)), whole});
}

}  // namespace

std::optional<std::string> ValueType::problem() const {
  constexpr std::size_t kMaxRank = 16;
  constexpr std::int64_t kMaxElements = 1 << 26;  // of a value, or of its one-hot form
  if (shape.size() > kMaxRank) {
    return fmt::format("a value of {} dimensions; a network takes {} at most", shape.size(),
                       kMaxRank);
  }
  std::int64_t elements = 1;
  const auto grows = [&](std::int64_t by) {
    if (by < 1 || by > kMaxElements / elements) return false;
    elements *= by;
    return true;
  };
  if (!std::all_of(shape.begin(), shape.end(), grows) ||
      !grows(std::max({std::int64_t{1}, std::int64_t{categories}, std::int64_t{mixture}}))) {
    return fmt::format(
        "a value of shape [{}] and {} categories is empty or too large for a network",
        fmt::join(shape, ","), categories);
  }
  return std::nullopt;
}

std::size_t ValueType::outputs() const {
  switch (family) {
    case Family::kCategorical:
      return components() * categories;
    case Family::kUniform:
      return components() * UniformHead::kOutputs;
    case Family::kMixture:
      return mixture * (1 + 2 * components());
    default:
      return components() *
             dispatch(family, []<class H, class D>() { return std::size_t{H::kOutputs}; });
  }
}

std::size_t ValueType::inputs() const {
  return family == Family::kCategorical ? components() * categories : components();
}

void represent(const ValueType& type, const Scaling& scaling, const Value& x, float* out) {
  if (type.family == Family::kCategorical) {
    std::fill_n(out, type.inputs(), 0.0f);
    for (std::size_t row = 0; row < x.size(); ++row) {
      const auto drawn = std::min<std::size_t>(static_cast<std::size_t>(std::max(0.0, x[row])),
                                               type.categories - 1);
      out[row * type.categories + drawn] = 1;
    }
    return;
  }
  constexpr double kFar = 20;  // an outlier is far away, however far
  const bool logarithm = scaled_by_logarithm(type.family);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double value = logarithm ? std::log(std::max(x[i], 1e-300)) : x[i];
    out[i] = static_cast<float>(
        std::clamp((value - scaling.location[i]) / scaling.scale[i], -kFar, kFar));
  }
}

Distribution head_distribution(const ValueType& type, const Scaling& scaling,
                               const float* outputs) {
  switch (type.family) {
    case Family::kCategorical: {
      std::vector<double> probs(type.outputs());
      for (std::size_t row = 0; row < type.components(); ++row) {
        const float* logits = outputs + row * type.categories;
        const double largest = *std::max_element(logits, logits + type.categories);
        for (std::size_t c = 0; c < type.categories; ++c) {
          probs[row * type.categories + c] = std::exp(logits[c] - largest);
        }
      }
      Shape shape = type.shape;
      shape.push_back(type.categories);
      return Categorical(Value(std::move(probs), std::move(shape)));
    }
    case Family::kUniform:
      return uniform_distribution(type, scaling, outputs);
    case Family::kMixture:
      return mixture_distribution(type, scaling, outputs);
    default:
      return dispatch(type.family,
                      [&]<class H, class D>() { return build<H, D>(type, scaling, outputs); });
  }
}

HeadLoss head_loss(const ValueType& type, const Scaling& scaling, const float* outputs,
                   const Value& x, const Distribution* p, float* gradient) {
  switch (type.family) {
    case Family::kCategorical:
      return categorical_loss(type, outputs, x, p, gradient);
    case Family::kUniform:
      return uniform_loss(type, scaling, outputs, x, p, gradient);
    case Family::kMixture:
      return mixture_loss(type, scaling, outputs, x, gradient);
    default:
      return dispatch(type.family, [&]<class H, class D>() {
        return independent_loss<H, D>(type, scaling, outputs, x, p, gradient);
      });
  }
}

}  // namespace psn
