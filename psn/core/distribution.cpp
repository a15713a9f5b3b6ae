#include "psn/core/distribution.h"

#include <fmt/format.h>

#include <algorithm>

#include "psn/core/families/joint.h"

namespace psn {
namespace {

// One entry per alternative, in the order of the variant.
template <class... D>
constexpr std::array<FamilyInfo, sizeof...(D)> describe_all(const std::variant<D...>*) {
  return {FamilyInfo{family_of<D>, D::kName, D::kDomain, D::kLogarithmic, D::kParameters}...};
}
constexpr auto kFamilies = describe_all(static_cast<const Families*>(nullptr));

constexpr bool all_differ() {
  for (std::size_t i = 0; i < kFamilies.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (kFamilies[i].family == kFamilies[j].family || kFamilies[i].name == kFamilies[j].name) {
        return false;
      }
    }
  }
  return true;
}
static_assert(all_differ(), "two families have one number or one name");

template <class Match>
std::optional<Family> family_where(Match match) {
  const auto* found = std::find_if(kFamilies.begin(), kFamilies.end(), match);
  return found == kFamilies.end() ? std::nullopt : std::optional(found->family);
}

template <class D>
Distribution make(std::vector<Value>& parameters, std::vector<Distribution>& components) {
  if constexpr (std::is_same_v<D, Mixture>) {
    return Mixture(std::move(parameters[0]), std::move(components));
  } else {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      // Constructors may take something else, which the parameters are made from.
      if constexpr (IsJoint<D>)
        return D(typename D::Values{std::move(parameters[K])...});
      else
        return D(std::move(parameters[K])...);
    }
    (std::make_index_sequence<D::kArity>());
  }
}

}  // namespace

std::optional<std::string> Distribution::problem() const {
  std::string text = std::visit([](const auto& d) { return explain(d); }, variant_);
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

bool Distribution::valid() const {
  return std::visit([](const auto& d) { return is_valid(d); }, variant_);
}

Value Distribution::draw(Rng& rng) const {
  return std::visit([&](const auto& d) { return draw_from(d, rng); }, variant_);
}

double Distribution::log_prob(const Value& x) const {
  return std::visit([&](const auto& d) { return log_prob_of(d, x); }, variant_);
}

Value Distribution::mean() const {
  return std::visit([](const auto& d) { return mean_of(d); }, variant_);
}

Value Distribution::variance() const {
  return std::visit([](const auto& d) { return variance_of(d); }, variant_);
}

Support Distribution::support(std::size_t component) const {
  return std::visit([&](const auto& d) { return support_of(d, component); }, variant_);
}

bool Distribution::discrete() const {
  return support().discrete;
}

bool Distribution::on_simplex() const {
  return std::visit(
      []<class D>(const D& d) {
        if constexpr (std::is_same_v<D, Mixture>)
          return d.components->front().on_simplex();
        else
          return D::kDomain == Domain::kSimplex;
      },
      variant_);
}

std::size_t Distribution::size() const {
  return std::visit([](const auto& d) { return size_of(d); }, variant_);
}

Shape Distribution::shape() const {
  return std::visit([](const auto& d) { return shape_of(d); }, variant_);
}

bool Distribution::is_scalar() const {
  return std::visit([](const auto& d) { return psn::is_scalar(d); }, variant_);
}

std::size_t Distribution::categories() const {
  const auto* categorical = std::get_if<Categorical>(&variant_);
  return categorical ? categorical->categories() : 0;
}

std::string Distribution::type_name() const {
  return psn::type_name(family(), categories(), shape());
}

std::string Distribution::text() const {
  return std::visit([](const auto& d) { return text_of(d); }, variant_);
}

std::optional<double> kl_divergence(const Distribution& p, const Distribution& q) {
  if (p.family() != q.family() || p.shape() != q.shape()) return std::nullopt;
  return std::visit([&]<class D>(const D& d) { return kl_of(d, std::get<D>(q.variant())); },
                    p.variant());
}

bool FamilyInfo::has(family::Role role) const {
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](const family::Parameter& p) { return p.role == role; });
}

std::span<const FamilyInfo> families() {
  return kFamilies;
}

const FamilyInfo& info(Family family) {
  return *std::find_if(kFamilies.begin(), kFamilies.end(),
                       [&](const FamilyInfo& f) { return f.family == family; });
}

std::string_view family_name(Family family) {
  return info(family).name;
}

std::optional<Family> find_family(std::uint8_t id) {
  return family_where([&](const FamilyInfo& f) { return f.family == Family{id}; });
}

std::optional<Family> find_family(std::string_view name) {
  return family_where([&](const FamilyInfo& f) { return f.name == name; });
}

std::span<const Value> parameters_of(const Distribution& distribution) {
  return std::visit([](const auto& d) { return parameters_in(d); }, distribution.variant());
}

const Value& parameter(const Distribution& distribution, family::Role role) {
  const auto declared = info(distribution.family()).parameters;
  const auto found = std::find_if(declared.begin(), declared.end(),
                                  [&](const family::Parameter& p) { return p.role == role; });
  return parameters_of(distribution)[static_cast<std::size_t>(found - declared.begin())];
}

bool has_independent_components(Family family) {
  return with_family(family, []<class D>() {
    return requires {
      typename D::Kernel;
    };
  });
}

Distribution component_of(const Distribution& distribution, std::size_t component) {
  const auto number = [&]<class K>(const Independent<K>& d) -> Distribution {
    return std::apply([](auto... p) { return Independent<K>(p...); }, parameters_at(d, component));
  };
  const auto other = [](const auto&) -> Distribution {
    throw std::logic_error("components that are not independent");
  };
  return std::visit(
      [&](const auto& d) -> Distribution {
        if constexpr (requires { typename std::remove_cvref_t<decltype(d)>::Kernel; })
          return number(d);
        else
          return other(d);
      },
      distribution.variant());
}

std::span<const Distribution> components_of(const Distribution& distribution) {
  const auto* mixture = std::get_if<Mixture>(&distribution.variant());
  return mixture ? std::span<const Distribution>(*mixture->components)
                 : std::span<const Distribution>();
}

Distribution make_distribution(Family family, std::vector<Value> parameters,
                               std::vector<Distribution> components) {
  return with_family(family, [&]<class D>() { return make<D>(parameters, components); });
}

std::string type_name(Family family, std::size_t categories, const Shape& shape) {
  std::string name(family_name(family));
  if (categories > 0) name += fmt::format("(len_probs:{})", categories);
  return name + shape_text(shape);
}

}  // namespace psn
