// What the families with independent components have in common: a kernel lifted to any shape by
// broadcasting its parameters. Internal to psn.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "psn/base/error.h"
#include "psn/core/families/normal.h"

namespace psn {

template <class K>
const Value& shape_giver(const Independent<K>& d) {
  for (const Value& p : d.parameters) {
    if (!p.is_scalar()) return p;
  }
  return d.parameters[0];
}

template <class K>
bool is_scalar(const Independent<K>& d) {
  return std::all_of(d.parameters.begin(), d.parameters.end(),
                     [](const Value& p) { return p.is_scalar(); });
}

template <class K>
typename K::P parameters_at(const Independent<K>& d, std::size_t i) {
  typename K::P p;
  for (std::size_t k = 0; k < p.size(); ++k) {
    const Value& value = d.parameters[k];
    p[k] = value.data()[value.is_scalar() ? 0 : i];
  }
  return p;
}

// A Value of the distribution's shape whose i-th component is f(parameters at i).
template <class K, class F>
Value componentwise(const Independent<K>& d, F f) {
  if (is_scalar(d)) return f(parameters_at(d, 0));
  const Value& like = shape_giver(d);
  std::vector<double> components(like.size());
  for (std::size_t i = 0; i < components.size(); ++i) components[i] = f(parameters_at(d, i));
  return {std::move(components), like.shape()};
}

template <class K>
Value draw_from(const Independent<K>& d, Rng& rng) {
  return componentwise(d, [&](const auto& p) { return K::draw(p, rng); });
}

// Vectors of normals are what expensive simulators have most of: drawn all at once.
inline Value draw_from(const Independent<family::Normal>& d, Rng& rng) {
  if (is_scalar(d)) return family::Normal::draw(parameters_at(d, 0), rng);
  const Value& like = shape_giver(d);
  std::vector<double> components(like.size());
  rng.normals(components);
  for (std::size_t i = 0; i < components.size(); ++i) {
    const auto [mean, sd] = parameters_at(d, i);
    components[i] = mean + sd * components[i];
  }
  return {std::move(components), like.shape()};
}

template <class K>
std::string parameter_text(const typename K::P& p) {
  std::string text(K::kName);
  for (std::size_t k = 0; k < p.size(); ++k) {
    text += fmt::format("{}{}={}", k == 0 ? "(" : ", ", K::kParameters[k].name, p[k]);
  }
  return text + ")";
}

template <class K>
bool is_valid(const Independent<K>& d) {
  const Value& like = shape_giver(d);
  if (like.empty()) return false;
  for (const Value& p : d.parameters) {
    if (!p.is_scalar() && !p.same_shape(like)) return false;
  }
  for (std::size_t i = 0; i < like.size(); ++i) {
    if (K::problem(parameters_at(d, i))) return false;
  }
  return true;
}

template <class K>
std::string explain(const Independent<K>& d) {
  const Value& like = shape_giver(d);
  for (std::size_t k = 0; k < d.parameters.size(); ++k) {
    const Value& p = d.parameters[k];
    if (p.empty()) return fmt::format("{}: {} has no components", K::kName, K::kParameters[k].name);
    if (!p.is_scalar() && !p.same_shape(like)) {
      return fmt::format("{}: {} has shape {}, another parameter {}", K::kName,
                         K::kParameters[k].name, shape_text(p.shape()), shape_text(like.shape()));
    }
  }
  for (std::size_t i = 0; i < like.size(); ++i) {
    const auto p = parameters_at(d, i);
    if (const char* wrong = K::problem(p)) {
      return fmt::format("{}{}: {}", parameter_text<K>(p),
                         like.size() > 1 ? fmt::format(", component {}", i) : "", wrong);
    }
  }
  return "";
}

inline void require_size(std::string_view family, std::size_t expected, const Value& x) {
  if (x.size() != expected) {
    throw ModelError(fmt::format("a value of {} components was given to a {} of {}", x.size(),
                                 family, expected));
  }
}

template <class K>
double sum_of_log_probs(const Independent<K>& d, std::span<const double> x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += K::log_prob(parameters_at(d, i), x[i]);
  return sum;
}

inline double sum_of_log_probs(const Independent<family::Normal>& d, std::span<const double> x) {
  double squares = 0;
  LogProduct sds;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto [mean, sd] = parameters_at(d, i);
    const double z = (x[i] - mean) / sd;
    squares += z * z;
    sds.multiply(sd);
  }
  return -0.5 * squares - sds.value() - static_cast<double>(x.size()) * kLogSqrt2Pi;
}

template <class K>
double log_prob_of(const Independent<K>& d, const Value& x) {
  if (is_scalar(d)) {
    if (x.size() != 1) require_size(K::kName, 1, x);
    return K::log_prob(parameters_at(d, 0), x.data()[0]);
  }
  const std::size_t n = shape_giver(d).size();
  require_size(K::kName, n, x);
  return sum_of_log_probs(d, x.components());
}

template <class K>
Value mean_of(const Independent<K>& d) {
  return componentwise(d, [](const auto& p) { return K::mean(p); });
}

template <class K>
Value variance_of(const Independent<K>& d) {
  return componentwise(d, [](const auto& p) { return K::variance(p); });
}

template <class K>
Support support_of(const Independent<K>& d, std::size_t component) {
  return K::support(parameters_at(d, component));
}

template <class K>
std::size_t size_of(const Independent<K>& d) {
  return shape_giver(d).size();
}

template <class K>
Shape shape_of(const Independent<K>& d) {
  return shape_giver(d).shape();
}

// "Normal(mean=0, stddev=1)"
template <class D>
std::string text_with_parameters(const D& d) {
  std::string text(D::kName);
  for (std::size_t k = 0; k < d.parameters.size(); ++k) {
    text +=
        fmt::format("{}{}={}", k == 0 ? "(" : ", ", D::kParameters[k].name, d.parameters[k].text());
  }
  return text + ")";
}

template <class K>
std::string text_of(const Independent<K>& d) {
  return text_with_parameters(d);
}

template <class K>
std::optional<double> kl_of(const Independent<K>& p, const Independent<K>& q) {
  double sum = 0;
  for (std::size_t i = 0; i < size_of(p); ++i) {
    const auto term = K::kl(parameters_at(p, i), parameters_at(q, i));
    if (!term) return std::nullopt;
    sum += *term;
  }
  return sum;
}

template <class K>
std::span<const Value> parameters_in(const Independent<K>& d) {
  return d.parameters;
}

}  // namespace psn
