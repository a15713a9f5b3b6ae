// Mixture: of whole (also vector-valued) distributions.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "psn/core/families/kernel.h"

namespace psn {

class Distribution;

struct Mixture {
  static constexpr std::size_t kArity = 1;
  static constexpr std::string_view kName = "Mixture";
  static constexpr std::uint8_t kId = 12;
  static constexpr Domain kDomain = Domain::kReal;
  static constexpr bool kLogarithmic = false;
  static constexpr std::array<family::Parameter, 1> kParameters{
      {{"weights", family::Link::kSimplex, family::Role::kShape}}};

  Mixture(Value component_weights, std::vector<Distribution> parts);
  Value weights;  // need not sum to one
  std::shared_ptr<const std::vector<Distribution>> components;
};

bool is_valid(const Mixture& d);
std::string explain(const Mixture& d);
Value draw_from(const Mixture& d, Rng& rng);
double log_prob_of(const Mixture& d, const Value& x);
Value mean_of(const Mixture& d);
Value variance_of(const Mixture& d);
Support support_of(const Mixture& d, std::size_t component);
std::size_t size_of(const Mixture& d);
Shape shape_of(const Mixture& d);
bool is_scalar(const Mixture& d);
std::string text_of(const Mixture& d);
std::optional<double> kl_of(const Mixture& p, const Mixture& q);
inline std::span<const Value> parameters_in(const Mixture& d) {
  return {&d.weights, 1};
}

}  // namespace psn
