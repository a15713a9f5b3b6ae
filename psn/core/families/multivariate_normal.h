// MultivariateNormal: a vector of normals that hang together, by its covariance or by the lower
// triangle L with covariance L L'. Kept, and told by parameters_of(), is L, row by row.
#pragma once

#include "psn/core/families/kernel.h"

namespace psn {
namespace family {

struct MultivariateNormal {
  static constexpr std::string_view kName = "MultivariateNormal";
  static constexpr std::uint8_t kId = 18;
  static constexpr Domain kDomain = Domain::kReal;
  static constexpr std::array<Parameter, 2> kParameters{
      {{"mean", Link::kReal, Role::kLocation}, {"cholesky", Link::kTriangle, Role::kScale}}};
  static constexpr std::size_t kFewest = 1;
  using P = Lists<2>;

  static void draw(const P& p, Rng& rng, NumbersOut x);
  static double log_prob(const P& p, Numbers x);
  static void mean(const P& p, NumbersOut m);
  static void variance(const P& p, NumbersOut v);
  static Support support() { return {}; }
  static double kl(const P& p, const P& q);
  static void score(const P& p, Numbers x, const ListsOut<2>& by);
  static void expected_score(const P& p, const P& q, const ListsOut<2>& by);
  static double log_prob_of_present(const P& p, Numbers x);
  static void fill(const P& p, NumbersOut x, Rng& rng);
  // Coordinates: the standard normals that it is made of.
  static constexpr std::size_t freedom(std::size_t components) { return components; }
  static double free(const P& p, Numbers x, NumbersOut u);
  static void bind(const P& p, Numbers u, NumbersOut x);
};

}  // namespace family

struct MultivariateNormal : Joint<family::MultivariateNormal> {
  explicit MultivariateNormal(Values values) : Joint(std::move(values)) {}
  // A symmetric matrix.
  MultivariateNormal(Value mean, const Value& covariance);
  // The matrix L.
  static MultivariateNormal from_cholesky(Value mean, const Value& lower);
};

}  // namespace psn
