#include "psn/core/families/mixture.h"

#include <fmt/format.h>

#include "psn/core/distribution.h"

namespace psn {
namespace {

// sum_k w_k f_k, componentwise over Values.
template <class F>
Value weighted_sum(const Mixture& d, F f) {
  const Distribution& first = d.components->front();
  std::vector<double> result(first.size(), 0.0);
  const double sum = family::total(d.weights.components());
  for (std::size_t k = 0; k < d.components->size(); ++k) {
    if (d.weights[k] == 0) continue;
    const Value value = f((*d.components)[k]);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] += d.weights[k] / sum * value[i];
  }
  return {std::move(result), first.shape()};
}

}  // namespace

Mixture::Mixture(Value component_weights, std::vector<Distribution> parts)
    : weights(std::move(component_weights)),
      components(std::make_shared<const std::vector<Distribution>>(std::move(parts))) {}

std::string explain(const Mixture& d) {
  if (d.components->empty()) return "Mixture: no components";
  if (d.weights.size() != d.components->size()) {
    return fmt::format("Mixture: {} weights for {} components", d.weights.size(),
                       d.components->size());
  }
  if (!family::valid_weights(d.weights.components())) {
    return fmt::format("Mixture(weights={}): weights must be finite, not negative and not all zero",
                       d.weights.text());
  }
  for (const Distribution& component : *d.components) {
    if (auto wrong = component.problem()) return "Mixture of " + *wrong;
    if (component.shape() != d.components->front().shape()) {
      return "Mixture: components differ in shape";
    }
    // Densities over the simplex and over all vectors are not of one kind: they have no sum.
    if (component.on_simplex() != d.components->front().on_simplex()) {
      return "Mixture: some components lie on the simplex, others do not";
    }
  }
  return "";
}

bool is_valid(const Mixture& d) {
  return explain(d).empty();
}

Value draw_from(const Mixture& d, Rng& rng) {
  const auto k = static_cast<std::size_t>(family::draw_index(d.weights.components(), rng));
  return (*d.components)[k].draw(rng);
}

double log_prob_of(const Mixture& d, const Value& x) {
  std::vector<double> terms(d.components->size());
  const double sum = family::total(d.weights.components());
  for (std::size_t k = 0; k < terms.size(); ++k) {
    terms[k] = std::log(d.weights[k] / sum) + (*d.components)[k].log_prob(x);
  }
  return log_sum_exp(terms);
}

Value mean_of(const Mixture& d) {
  return weighted_sum(d, [](const Distribution& component) { return component.mean(); });
}

Value variance_of(const Mixture& d) {
  const Value mean = mean_of(d);
  return weighted_sum(d, [&](const Distribution& component) {
    const Value m = component.mean();
    const Value v = component.variance();
    std::vector<double> second(m.size());
    for (std::size_t i = 0; i < second.size(); ++i) {
      second[i] = v[i] + (m[i] - mean[i]) * (m[i] - mean[i]);
    }
    return Value(second);
  });
}

Support support_of(const Mixture& d, std::size_t component) {
  Support hull = d.components->front().support(component);
  for (const Distribution& other : *d.components) {
    const Support s = other.support(component);
    hull = {std::min(hull.low, s.low), std::max(hull.high, s.high), hull.discrete && s.discrete};
  }
  return hull;
}

std::size_t size_of(const Mixture& d) {
  return d.components->front().size();
}

Shape shape_of(const Mixture& d) {
  return d.components->front().shape();
}

bool is_scalar(const Mixture& d) {
  return d.components->front().is_scalar();
}

std::string text_of(const Mixture& d) {
  return fmt::format("Mixture(weights={}, {} components)", d.weights.text(), d.components->size());
}

std::optional<double> kl_of(const Mixture&, const Mixture&) {
  return std::nullopt;
}

}  // namespace psn
