// Distribution: a closed variant of all families that a random choice may have.
//
// Parameters are Values. Those of most families broadcast, for components that are independent:
// Normal(0, {1, 2}) is a distribution over vectors of two. psn/core/families has one header each.
// Components of a Dirichlet or a MultivariateNormal hang together.
//
// Constructors accept anything: `problem()` tells what is wrong with the parameters, and run()
// turns it into a ModelError that names the address. The other functions need valid parameters.
#pragma once

#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "psn/base/rng.h"
#include "psn/core/families/families.h"

namespace psn {

// A family's kId: what files carry.
enum class Family : std::uint8_t {};

template <class D>
inline constexpr Family family_of = Family{D::kId};

// By place in the variant.
inline constexpr auto kFamilyIds = []<class... D>(const std::variant<D...>*) {
  return std::array{family_of<D>...};
}(static_cast<const Families*>(nullptr));

class Distribution {
 public:
  using Variant = Families;

  template <class D>
  requires std::is_constructible_v<Variant, D> &&
      (!std::is_same_v<std::remove_cvref_t<D>, Distribution>)Distribution(D&& distribution)
      : variant_(std::forward<D>(distribution)) {}

  const Variant& variant() const { return variant_; }
  Family family() const { return kFamilyIds[variant_.index()]; }

  // What is wrong with the parameters, with the offending value; nullopt if nothing is.
  std::optional<std::string> problem() const;
  // The same question, answered fast.
  bool valid() const;

  Value draw(Rng& rng) const;
  // Summed over components; -inf outside the support. Throws ModelError if the shape differs.
  double log_prob(const Value& x) const;
  Value mean() const;
  Value variance() const;
  Support support(std::size_t component = 0) const;
  bool discrete() const;
  bool on_simplex() const;  // also for a mixture of such

  // Number of components, and the shape of a draw.
  std::size_t size() const;
  Shape shape() const;
  bool is_scalar() const;
  std::size_t categories() const;  // of a Categorical; 0 otherwise

  // "Normal", "Categorical(len_probs:3)", "Normal[61]": the part of an address that stands for the
  // type. Two distributions of one type have parameters and values of the same form.
  std::string type_name() const;
  // "Normal(mean=0, stddev=1)".
  std::string text() const;

 private:
  Variant variant_;
};

// Closed-form KL(p || q); nullopt if there is none (different families, mixtures).
std::optional<double> kl_divergence(const Distribution& p, const Distribution& q);

// What a family declares. All functions of a Family need one that there is.
struct FamilyInfo {
  Family family;
  std::string_view name;
  Domain domain;
  bool logarithmic;  // location and scale are those of log x
  std::span<const family::Parameter> parameters;

  bool has(family::Role role) const;
};
std::span<const FamilyInfo> families();
const FamilyInfo& info(Family family);
std::string_view family_name(Family family);
std::optional<Family> find_family(std::uint8_t id);
std::optional<Family> find_family(std::string_view name);

// A distribution as a list of parameters, and back; components are those of a mixture.
std::span<const Value> parameters_of(const Distribution& distribution);
std::span<const Distribution> components_of(const Distribution& distribution);
// One component of a distribution whose components are independent.
bool has_independent_components(Family family);
Distribution component_of(const Distribution& distribution, std::size_t component);
// The first of them that has this role; there must be one.
const Value& parameter(const Distribution& distribution, family::Role role);
// With as many parameters as the family has.
Distribution make_distribution(Family family, std::vector<Value> parameters,
                               std::vector<Distribution> components = {});

// Distribution::type_name() of whatever has this form.
std::string type_name(Family family, std::size_t categories, const Shape& shape);

// Calls f.operator()<D>() for the family's alternative of the variant.
template <std::size_t I = 0, class F>
auto with_family(Family family, F&& f) -> decltype(f.template operator()<Normal>()) {
  if constexpr (I == std::variant_size_v<Families>) {
    throw std::logic_error("no family has this number");
  } else {
    using D = std::variant_alternative_t<I, Families>;
    if (family == family_of<D>) return f.template operator()<D>();
    return with_family<I + 1>(family, f);
  }
}

}  // namespace psn
