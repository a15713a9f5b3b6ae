// Categorical: probabilities (normalised on use) along the last dimension of `probs`.
#pragma once

#include <initializer_list>
#include <span>
#include <string>

#include "psn/core/families/kernel.h"

namespace psn {

struct Categorical {
  static constexpr std::size_t kArity = 1;
  static constexpr std::string_view kName = "Categorical";
  static constexpr std::uint8_t kId = 2;
  static constexpr Domain kDomain = Domain::kCategory;
  static constexpr bool kLogarithmic = false;
  static constexpr std::array<family::Parameter, 1> kParameters{
      {{"probs", family::Link::kSimplex, family::Role::kShape}}};

  Categorical(Value probabilities) : probs(std::move(probabilities)) {}
  Categorical(std::initializer_list<double> probabilities) : probs(probabilities) {}
  std::size_t categories() const;
  std::size_t rows() const;  // number of independent components
  std::span<const double> row(std::size_t i) const;
  Value probs;  // shape {..., categories}; rows need not sum to one
};

namespace family {
// Weights need not sum to one, and some may be zero.
bool valid_weights(std::span<const double> weights);
double total(std::span<const double> weights);
double draw_index(std::span<const double> weights, Rng& rng);
double log_prob_index(std::span<const double> weights, double x);
}  // namespace family

bool is_valid(const Categorical& d);
std::string explain(const Categorical& d);
Value draw_from(const Categorical& d, Rng& rng);
double log_prob_of(const Categorical& d, const Value& x);
Value mean_of(const Categorical& d);
Value variance_of(const Categorical& d);
Support support_of(const Categorical& d, std::size_t component);
std::size_t size_of(const Categorical& d);
Shape shape_of(const Categorical& d);
bool is_scalar(const Categorical& d);
std::string text_of(const Categorical& d);
std::optional<double> kl_of(const Categorical& p, const Categorical& q);
inline std::span<const Value> parameters_in(const Categorical& d) {
  return {&d.probs, 1};
}

}  // namespace psn
