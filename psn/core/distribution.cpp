#include "psn/core/distribution.h"

#include <fmt/format.h>

#include <algorithm>

#include "psn/base/error.h"
#include "psn/core/independent.h"

namespace psn {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;  // clang before 17 does not deduce it

static_assert(std::variant_size_v<Distribution::Variant> ==
              static_cast<std::size_t>(Family::kMixture) + 1);

// ---- Categorical ------------------------------------------------------------------------------

std::span<const double> row_of(const Categorical& d, std::size_t row) {
  return {d.probs.data() + row * d.categories(), d.categories()};
}

double total(std::span<const double> weights) {
  double sum = 0;
  for (double weight : weights) sum += weight;
  return sum;
}

bool valid_weights(std::span<const double> weights) {
  for (double weight : weights) {
    if (!(weight >= 0)) return false;
  }
  const double sum = total(weights);
  return sum > 0 && sum < kInfinity;
}

double draw_index(std::span<const double> weights, Rng& rng) {
  double u = rng.uniform() * total(weights);
  std::size_t last_possible = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    if (weights[k] == 0) continue;
    last_possible = k;
    u -= weights[k];
    if (u < 0) break;
  }
  return static_cast<double>(last_possible);
}

double log_prob_index(std::span<const double> weights, double x) {
  if (!(x >= 0 && x < static_cast<double>(weights.size())) || x != std::floor(x)) return -kInfinity;
  return std::log(weights[static_cast<std::size_t>(x)] / total(weights));
}

// A Value with one component per row of a Categorical.
template <class F>
Value rowwise(const Categorical& d, F f) {
  if (d.probs.size() == d.categories() && d.probs.rank() == 1) return f(row_of(d, 0));
  Shape shape = d.probs.shape();
  shape.pop_back();
  std::vector<double> components(d.rows());
  for (std::size_t i = 0; i < components.size(); ++i) components[i] = f(row_of(d, i));
  return {std::move(components), std::move(shape)};
}

std::string explain(const Categorical& d) {
  if (d.probs.empty() || d.categories() == 0) return "Categorical: probs is empty or not a vector";
  for (std::size_t i = 0; i < d.rows(); ++i) {
    const auto row = row_of(d, i);
    if (valid_weights(row)) continue;
    return fmt::format(
        "Categorical(probs={}): probabilities must be finite, not negative and not all zero",
        Value(row).text());
  }
  return "";
}

bool is_valid(const Categorical& d) {
  if (d.probs.empty() || d.categories() == 0) return false;
  for (std::size_t i = 0; i < d.rows(); ++i) {
    if (!valid_weights(row_of(d, i))) return false;
  }
  return true;
}

double mean_index(std::span<const double> weights) {
  double sum = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) sum += static_cast<double>(k) * weights[k];
  return sum / total(weights);
}

double variance_index(std::span<const double> weights) {
  const double mean = mean_index(weights);
  double sum = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const double distance = static_cast<double>(k) - mean;
    sum += distance * distance * weights[k];
  }
  return sum / total(weights);
}

// ---- Mixture ----------------------------------------------------------------------------------

std::string explain(const Mixture& d) {
  if (d.components->empty()) return "Mixture: no components";
  if (d.weights.size() != d.components->size()) {
    return fmt::format("Mixture: {} weights for {} components", d.weights.size(),
                       d.components->size());
  }
  if (!valid_weights(d.weights.components())) {
    return fmt::format("Mixture(weights={}): weights must be finite, not negative and not all zero",
                       d.weights.text());
  }
  for (const Distribution& component : *d.components) {
    if (auto wrong = component.problem()) return "Mixture of " + *wrong;
    if (component.shape() != d.components->front().shape()) {
      return "Mixture: components differ in shape";
    }
  }
  return "";
}

bool is_valid(const Mixture& d) {
  return explain(d).empty();
}

// sum_k w_k f_k, componentwise over Values.
template <class F>
Value weighted_sum(const Mixture& d, F f) {
  const Distribution& first = d.components->front();
  std::vector<double> result(first.size(), 0.0);
  const double sum = total(d.weights.components());
  for (std::size_t k = 0; k < d.components->size(); ++k) {
    if (d.weights[k] == 0) continue;
    const Value value = f((*d.components)[k]);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] += d.weights[k] / sum * value[i];
  }
  return {std::move(result), first.shape()};
}

Value mixture_variance(const Mixture& d, const Value& mean) {
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

}  // namespace

std::size_t Categorical::categories() const {
  return probs.last_extent();
}

std::size_t Categorical::rows() const {
  const std::size_t k = categories();
  return k == 0 ? 0 : probs.size() / k;
}

Mixture::Mixture(Value component_weights, std::vector<Distribution> parts)
    : weights(std::move(component_weights)),
      components(std::make_shared<const std::vector<Distribution>>(std::move(parts))) {}

std::optional<std::string> Distribution::problem() const {
  std::string text = std::visit([](const auto& d) { return explain(d); }, variant_);
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

bool Distribution::valid() const {
  return std::visit([](const auto& d) { return is_valid(d); }, variant_);
}

Value Distribution::draw(Rng& rng) const {
  return std::visit(Overloaded{
                        [&]<class K>(const Independent<K>& d) { return draw_from(d, rng); },
                        [&](const Categorical& d) {
                          return rowwise(d, [&](auto row) { return draw_index(row, rng); });
                        },
                        [&](const Mixture& d) {
                          const auto k =
                              static_cast<std::size_t>(draw_index(d.weights.components(), rng));
                          return (*d.components)[k].draw(rng);
                        },
                    },
                    variant_);
}

double Distribution::log_prob(const Value& x) const {
  return std::visit(Overloaded{
                        [&]<class K>(const Independent<K>& d) { return log_prob_of(d, x); },
                        [&](const Categorical& d) {
                          const std::size_t rows = d.rows();
                          require_size("Categorical", rows, x);
                          double sum = 0;
                          for (std::size_t i = 0; i < rows; ++i)
                            sum += log_prob_index(row_of(d, i), x[i]);
                          return sum;
                        },
                        [&](const Mixture& d) {
                          std::vector<double> terms(d.components->size());
                          const double sum = total(d.weights.components());
                          for (std::size_t k = 0; k < terms.size(); ++k) {
                            terms[k] =
                                std::log(d.weights[k] / sum) + (*d.components)[k].log_prob(x);
                          }
                          return log_sum_exp(terms);
                        },
                    },
                    variant_);
}

Value Distribution::mean() const {
  return std::visit(Overloaded{
                        []<class K>(const Independent<K>& d) {
                          return componentwise(d, [](const auto& p) { return K::mean(p); });
                        },
                        [](const Categorical& d) { return rowwise(d, mean_index); },
                        [](const Mixture& d) {
                          return weighted_sum(
                              d, [](const Distribution& component) { return component.mean(); });
                        },
                    },
                    variant_);
}

Value Distribution::variance() const {
  return std::visit(Overloaded{
                        []<class K>(const Independent<K>& d) {
                          return componentwise(d, [](const auto& p) { return K::variance(p); });
                        },
                        [](const Categorical& d) { return rowwise(d, variance_index); },
                        [this](const Mixture& d) { return mixture_variance(d, mean()); },
                    },
                    variant_);
}

Support Distribution::support(std::size_t component) const {
  return std::visit(
      Overloaded{
          [&]<class K>(const Independent<K>& d) { return K::support(parameters_at(d, component)); },
          [](const Categorical& d) {
            return Support{0, static_cast<double>(d.categories()) - 1, true};
          },
          [&](const Mixture& d) {
            Support hull = d.components->front().support(component);
            for (const Distribution& other : *d.components) {
              const Support s = other.support(component);
              hull = {std::min(hull.low, s.low), std::max(hull.high, s.high),
                      hull.discrete && s.discrete};
            }
            return hull;
          },
      },
      variant_);
}

bool Distribution::discrete() const {
  return support().discrete;
}

std::size_t Distribution::size() const {
  return std::visit(Overloaded{
                        []<class K>(const Independent<K>& d) { return shape_giver(d).size(); },
                        [](const Categorical& d) { return d.rows(); },
                        [](const Mixture& d) { return d.components->front().size(); },
                    },
                    variant_);
}

Shape Distribution::shape() const {
  return std::visit(Overloaded{
                        []<class K>(const Independent<K>& d) { return shape_giver(d).shape(); },
                        [](const Categorical& d) {
                          Shape shape = d.probs.shape();
                          if (!shape.empty()) shape.pop_back();
                          return shape;
                        },
                        [](const Mixture& d) { return d.components->front().shape(); },
                    },
                    variant_);
}

bool Distribution::is_scalar() const {
  return std::visit(Overloaded{
                        []<class K>(const Independent<K>& d) { return all_scalar(d); },
                        [](const Categorical& d) { return d.probs.rank() <= 1; },
                        [](const Mixture& d) { return d.components->front().is_scalar(); },
                    },
                    variant_);
}

std::size_t Distribution::categories() const {
  const auto* categorical = std::get_if<Categorical>(&variant_);
  return categorical ? categorical->categories() : 0;
}

std::string Distribution::type_name() const {
  return psn::type_name(family(), categories(), shape());
}

std::string Distribution::text() const {
  return std::visit(
      Overloaded{
          []<class K>(const Independent<K>& d) {
            std::string text(K::kName);
            for (std::size_t k = 0; k < d.parameters.size(); ++k) {
              text += fmt::format("{}{}={}", k == 0 ? "(" : ", ", K::kParameters[k],
                                  d.parameters[k].text());
            }
            return text + ")";
          },
          [](const Categorical& d) { return fmt::format("Categorical(probs={})", d.probs.text()); },
          [](const Mixture& d) {
            return fmt::format("Mixture(weights={}, {} components)", d.weights.text(),
                               d.components->size());
          },
      },
      variant_);
}

std::optional<double> kl_divergence(const Distribution& p, const Distribution& q) {
  if (p.family() != q.family() || p.shape() != q.shape()) return std::nullopt;
  return std::visit(Overloaded{
                        [&]<class K>(const Independent<K>& a) -> std::optional<double> {
                          const auto& b = std::get<Independent<K>>(q.variant());
                          double sum = 0;
                          for (std::size_t i = 0; i < p.size(); ++i) {
                            const auto term = K::kl(parameters_at(a, i), parameters_at(b, i));
                            if (!term) return std::nullopt;
                            sum += *term;
                          }
                          return sum;
                        },
                        [&](const Categorical& a) -> std::optional<double> {
                          const auto& b = std::get<Categorical>(q.variant());
                          if (a.categories() != b.categories()) return std::nullopt;
                          double sum = 0;
                          for (std::size_t i = 0; i < a.rows(); ++i) {
                            const auto from = row_of(a, i);
                            const auto to = row_of(b, i);
                            const double log_norm = std::log(total(to) / total(from));
                            for (std::size_t k = 0; k < from.size(); ++k) {
                              if (from[k] > 0) {
                                sum +=
                                    from[k] / total(from) * (std::log(from[k] / to[k]) + log_norm);
                              }
                            }
                          }
                          return sum;
                        },
                        [](const Mixture&) -> std::optional<double> { return std::nullopt; },
                    },
                    p.variant());
}

std::string_view family_name(Family family) {
  constexpr std::array<std::string_view, 13> kNames{
      "Normal", "Uniform",   "Categorical", "Poisson", "Bernoulli",       "Beta",   "Exponential",
      "Gamma",  "LogNormal", "Binomial",    "Weibull", "TruncatedNormal", "Mixture"};
  return kNames[static_cast<std::size_t>(family)];
}

std::string type_name(Family family, std::size_t categories, const Shape& shape) {
  std::string name(family_name(family));
  if (categories > 0) name += fmt::format("(len_probs:{})", categories);
  return name + shape_text(shape);
}

}  // namespace psn
