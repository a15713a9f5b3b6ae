#include "psn/data/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "psn/base/error.h"

namespace psn::data {
namespace {

template <class D>
std::span<const Value> parameters_in(const D& d) {
  if constexpr (std::is_same_v<D, Categorical>) {
    return {&d.probs, 1};
  } else if constexpr (std::is_same_v<D, Mixture>) {
    return {&d.weights, 1};
  } else {
    return d.parameters;
  }
}

template <class D>
constexpr std::size_t arity() {
  if constexpr (requires { D::kArity; }) {
    return D::kArity;
  } else {
    return 1;
  }
}

template <class D>
Distribution make(std::vector<Value>& parameters, std::vector<Distribution>& components) {
  if constexpr (std::is_same_v<D, Mixture>) {
    return Mixture(std::move(parameters[0]), std::move(components));
  } else {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return D(std::move(parameters[K])...);
    }
    (std::make_index_sequence<arity<D>()>());
  }
}

// Calls f.operator()<D>() for the family's alternative of the variant.
template <class F>
auto with_family(Family family, F f) {
  using Result = decltype(f.template operator()<Normal>());
  std::optional<Result> result;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((I == static_cast<std::size_t>(family)
          ? void(result.emplace(
                f.template operator()<std::variant_alternative_t<I, Distribution::Variant>>()))
          : void()),
     ...);
  }
  (std::make_index_sequence<std::variant_size_v<Distribution::Variant>>());
  return *std::move(result);
}

}  // namespace

std::span<const Value> parameters_of(const Distribution& distribution) {
  return std::visit([](const auto& d) { return parameters_in(d); }, distribution.variant());
}

std::span<const Distribution> components_of(const Distribution& distribution) {
  const auto* mixture = std::get_if<Mixture>(&distribution.variant());
  return mixture ? std::span<const Distribution>(*mixture->components)
                 : std::span<const Distribution>();
}

std::size_t parameter_count(Family family) {
  return with_family(family, []<class D>() { return arity<D>(); });
}

Distribution make_distribution(Family family, std::vector<Value> parameters,
                               std::vector<Distribution> components) {
  return with_family(family, [&]<class D>() { return make<D>(parameters, components); });
}

void require_valid(const Distribution& distribution, std::size_t size) {
  if (!distribution.valid()) throw DataError(*distribution.problem());
  if (distribution.size() != size) {
    throw DataError(fmt::format("a value of {} components for a {} of {}", size,
                                family_name(distribution.family()), distribution.size()));
  }
}

bool is_filled(const Value& value) {
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  return value.size() > 1 && std::all_of(value.begin() + 1, value.end(),
                                         [&](double x) { return bits(x) == bits(value[0]); });
}

}  // namespace psn::data
