// Dirichlet: probabilities. The density is that of all components but one, whichever.
#pragma once

#include <initializer_list>

#include "psn/core/families/kernel.h"

namespace psn {
namespace family {

struct Dirichlet {
  static constexpr std::string_view kName = "Dirichlet";
  static constexpr std::uint8_t kId = 17;
  static constexpr Domain kDomain = Domain::kSimplex;
  static constexpr std::array<Parameter, 1> kParameters{
      {{"concentration", Link::kPositive, Role::kShape}}};
  static constexpr std::size_t kFewest = 2;
  using P = Lists<1>;

  static const char* problem(const P& p);
  static void draw(const P& p, Rng& rng, NumbersOut x);
  static double log_prob(const P& p, Numbers x);
  static void mean(const P& p, NumbersOut m);
  static void variance(const P& p, NumbersOut v);
  static Support support() { return {0, 1}; }
  static double kl(const P& p, const P& q);
  static void score(const P& p, Numbers x, const ListsOut<1>& by);
  static void expected_score(const P& p, const P& q, const ListsOut<1>& by);
  static double log_prob_of_present(const P& p, Numbers x);
  static void fill(const P& p, NumbersOut x, Rng& rng);
  // Coordinates: log odds of each component against all that come after it, which are independent.
  static constexpr std::size_t freedom(std::size_t components) { return components - 1; }
  static double free(const P& p, Numbers x, NumbersOut u);
  static void bind(const P& p, Numbers u, NumbersOut x);
};

// Do numbers sum to one, but for rounding? That of single precision, say, in data from elsewhere.
bool sums_to_one(Numbers x);

}  // namespace family

struct Dirichlet : Joint<family::Dirichlet> {
  explicit Dirichlet(Values values) : Joint(std::move(values)) {}
  Dirichlet(Value concentration) : Joint(Values{std::move(concentration)}) {}
  Dirichlet(std::initializer_list<double> concentration) : Dirichlet(Value(concentration)) {}
};

}  // namespace psn
