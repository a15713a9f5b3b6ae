// Distribution: a closed variant of all families that a random choice may have.
//
// Parameters are Values; components are independent and parameters broadcast, so Normal(0, {1, 2})
// is a distribution over vectors of two. Categorical takes probabilities (normalised on use) along
// the last dimension of `probs`. Mixture is a mixture of whole (also vector-valued) distributions.
//
// Constructors accept anything: `problem()` tells what is wrong with the parameters, and run()
// turns it into a ModelError that names the address. The other functions need valid parameters.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "psn/base/rng.h"
#include "psn/core/family.h"
#include "psn/core/value.h"

namespace psn {

// A family with independent components: one Value per parameter of the kernel.
template <class K>
struct Independent {
  using Kernel = K;
  static constexpr std::size_t kArity = K::kParameters.size();

  template <class... V>
  requires(sizeof...(V) == kArity && (std::is_convertible_v<V, Value> && ...))
      Independent(V&&... values)
      : parameters{Value(std::forward<V>(values))...} {}

  std::array<Value, kArity> parameters;
};

using Normal = Independent<family::Normal>;                    // mean, stddev
using Uniform = Independent<family::Uniform>;                  // low, high
using Poisson = Independent<family::Poisson>;                  // rate
using Bernoulli = Independent<family::Bernoulli>;              // probability of 1
using Beta = Independent<family::Beta>;                        // concentration1, concentration0
using Exponential = Independent<family::Exponential>;          // rate
using Gamma = Independent<family::Gamma>;                      // concentration, rate
using LogNormal = Independent<family::LogNormal>;              // mean and stddev of the logarithm
using Binomial = Independent<family::Binomial>;                // total_count, probs
using Weibull = Independent<family::Weibull>;                  // scale, concentration
using TruncatedNormal = Independent<family::TruncatedNormal>;  // mean, stddev, low, high

struct Categorical {
  Categorical(Value probabilities) : probs(std::move(probabilities)) {}
  Categorical(std::initializer_list<double> probabilities) : probs(probabilities) {}
  std::size_t categories() const;
  std::size_t rows() const;  // number of independent components
  Value probs;               // shape {..., categories}; rows need not sum to one
};

class Distribution;

struct Mixture {
  Mixture(Value component_weights, std::vector<Distribution> parts);
  Value weights;  // need not sum to one
  std::shared_ptr<const std::vector<Distribution>> components;
};

// In the order of the variant below; PPX's own order for its eleven.
enum class Family : std::uint8_t {
  kNormal,
  kUniform,
  kCategorical,
  kPoisson,
  kBernoulli,
  kBeta,
  kExponential,
  kGamma,
  kLogNormal,
  kBinomial,
  kWeibull,
  kTruncatedNormal,
  kMixture,
};

class Distribution {
 public:
  using Variant = std::variant<Normal, Uniform, Categorical, Poisson, Bernoulli, Beta, Exponential,
                               Gamma, LogNormal, Binomial, Weibull, TruncatedNormal, Mixture>;

  template <class D>
  requires std::is_constructible_v<Variant, D> &&
      (!std::is_same_v<std::remove_cvref_t<D>, Distribution>)Distribution(D&& distribution)
      : variant_(std::forward<D>(distribution)) {}

  const Variant& variant() const { return variant_; }
  Family family() const { return static_cast<Family>(variant_.index()); }

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

std::string_view family_name(Family family);
// Distribution::type_name() of whatever has this form.
std::string type_name(Family family, std::size_t categories, const Shape& shape);

}  // namespace psn
