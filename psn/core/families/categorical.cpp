#include "psn/core/families/categorical.h"

#include <fmt/format.h>

#include "psn/core/families/independent.h"

namespace psn {
namespace family {

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

}  // namespace family

namespace {

using family::total;

// A Value with one component per row.
template <class F>
Value rowwise(const Categorical& d, F f) {
  if (d.probs.rank() == 1) return f(d.row(0));
  std::vector<double> components(d.rows());
  for (std::size_t i = 0; i < components.size(); ++i) components[i] = f(d.row(i));
  return {std::move(components), shape_of(d)};
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

}  // namespace

std::size_t Categorical::categories() const {
  return probs.last_extent();
}

std::size_t Categorical::rows() const {
  const std::size_t k = categories();
  return k == 0 ? 0 : probs.size() / k;
}

std::span<const double> Categorical::row(std::size_t i) const {
  return {probs.data() + i * categories(), categories()};
}

std::string explain(const Categorical& d) {
  if (d.probs.empty() || d.categories() == 0) return "Categorical: probs is empty or not a vector";
  for (std::size_t i = 0; i < d.rows(); ++i) {
    if (family::valid_weights(d.row(i))) continue;
    return fmt::format(
        "Categorical(probs={}): probabilities must be finite, not negative and not all zero",
        Value(d.row(i)).text());
  }
  return "";
}

bool is_valid(const Categorical& d) {
  if (d.probs.empty() || d.categories() == 0) return false;
  for (std::size_t i = 0; i < d.rows(); ++i) {
    if (!family::valid_weights(d.row(i))) return false;
  }
  return true;
}

Value draw_from(const Categorical& d, Rng& rng) {
  return rowwise(d, [&](auto row) { return family::draw_index(row, rng); });
}

double log_prob_of(const Categorical& d, const Value& x) {
  const std::size_t rows = d.rows();
  require_size("Categorical", rows, x);
  double sum = 0;
  for (std::size_t i = 0; i < rows; ++i) sum += family::log_prob_index(d.row(i), x[i]);
  return sum;
}

Value mean_of(const Categorical& d) {
  return rowwise(d, mean_index);
}

Value variance_of(const Categorical& d) {
  return rowwise(d, variance_index);
}

Support support_of(const Categorical& d, std::size_t /*component*/) {
  return {0, static_cast<double>(d.categories()) - 1, true};
}

std::size_t size_of(const Categorical& d) {
  return d.rows();
}

Shape shape_of(const Categorical& d) {
  Shape shape = d.probs.shape();
  if (!shape.empty()) shape.pop_back();
  return shape;
}

bool is_scalar(const Categorical& d) {
  return d.probs.rank() <= 1;
}

std::string text_of(const Categorical& d) {
  return fmt::format("Categorical(probs={})", d.probs.text());
}

std::optional<double> kl_of(const Categorical& p, const Categorical& q) {
  if (p.categories() != q.categories()) return std::nullopt;
  double sum = 0;
  for (std::size_t i = 0; i < p.rows(); ++i) {
    const auto from = p.row(i), to = q.row(i);
    const double log_norm = std::log(total(to) / total(from));
    for (std::size_t k = 0; k < from.size(); ++k) {
      if (from[k] > 0) {
        sum += from[k] / total(from) * (std::log(from[k] / to[k]) + log_norm);
      }
    }
  }
  return sum;
}

}  // namespace psn
