#include "psn/core/missing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "psn/core/families/joint.h"

namespace psn {
namespace {

// The sum of f(component, x) over those that are there.
template <class F>
double sum_of_present(const Value& value, F f) {
  double sum = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (!std::isnan(value[i])) sum += f(i, value[i]);
  }
  return sum;
}

template <class K>
double log_prob_present(const Independent<K>& d, const Value& value) {
  return sum_of_present(
      value, [&](std::size_t i, double x) { return K::log_prob(parameters_at(d, i), x); });
}

double log_prob_present(const Categorical& d, const Value& value) {
  return sum_of_present(
      value, [&](std::size_t i, double x) { return family::log_prob_index(d.row(i), x); });
}

template <class K>
double log_prob_present(const Joint<K>& d, const Value& value) {
  return K::log_prob_of_present(numbers_of(d), value.components());
}

// By part: its weight times its density of what is present.
std::vector<double> log_parts(const Mixture& d, const Value& value) {
  std::vector<double> terms(d.components->size());
  double total = 0;
  for (const double weight : d.weights) total += weight;
  for (std::size_t k = 0; k < terms.size(); ++k) {
    terms[k] = std::log(d.weights[k] / total) + log_prob_of_present((*d.components)[k], value);
  }
  return terms;
}

double log_prob_present(const Mixture& d, const Value& value) {
  return log_sum_exp(log_parts(d, value));
}

// The part that the present components came from, drawn from its posterior.
const Distribution& draw_part(const Mixture& d, const Value& value, Rng& rng) {
  std::vector<double> terms = log_parts(d, value);
  const double total = log_sum_exp(terms);
  if (!std::isfinite(total)) return (*d.components)[0];  // the trace is ruled out anyway
  for (double& term : terms) term = std::exp(term - total);
  const Distribution part = Categorical(Value(std::span<const double>(terms)));
  return (*d.components)[static_cast<std::size_t>(part.draw(rng).integer())];
}

template <class D>
void fill_in(const D& d, std::span<double> value, Rng& rng) {
  if constexpr (IsJoint<D>) {
    D::JointKernel::fill(numbers_of(d), value, rng);
  } else {
    const Value drawn = draw_from(d, rng);
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (std::isnan(value[i])) value[i] = drawn[i];
    }
  }
}

void fill_in(const Mixture& d, std::span<double> value, Rng& rng) {
  std::visit([&](const auto& part) { fill_in(part, value, rng); },
             draw_part(d, Value(value), rng).variant());
}

struct Bounds {
  double low = -kInfinity, high = kInfinity;
};

// Where the family's values lie whatever its parameters.
Bounds family_bounds(const Distribution& distribution, std::size_t component) {
  const Support support = distribution.support(component);
  const FamilyInfo& family = info(distribution.family());
  return {family.has(family::Role::kLow) ? -kInfinity : support.low,
          family.has(family::Role::kHigh) ? kInfinity : support.high};
}

// Can what is there be a part of numbers that sum to one?
bool fits_simplex(const Value& value) {
  if (gaps(value) == Gaps::kNone) return family::sums_to_one(value.components());
  const double present = sum_of_present(value, [](std::size_t, double x) { return x; });
  return present <= 1 || family::sums_to_one({&present, 1});
}

std::string bounds_text(const Bounds& bounds, bool discrete) {
  const char* what = discrete ? "whole numbers" : "numbers";
  if (bounds.low == -kInfinity) return what;
  if (bounds.high == kInfinity) return fmt::format("{} from {}", what, bounds.low);
  return fmt::format("{} from {} to {}", what, bounds.low, bounds.high);
}

}  // namespace

Gaps gaps(const Value& value) {
  const std::size_t present = count_present(value);
  if (present == value.size()) return Gaps::kNone;
  return present == 0 ? Gaps::kAll : Gaps::kSome;
}

std::size_t count_present(const Value& value) {
  return static_cast<std::size_t>(
      std::count_if(value.begin(), value.end(), [](double x) { return !std::isnan(x); }));
}

double log_prob_of_present(const Distribution& distribution, const Value& value) {
  require_size(family_name(distribution.family()), distribution.size(), value);
  return std::visit([&](const auto& d) { return log_prob_present(d, value); },
                    distribution.variant());
}

Value fill_gaps(const Distribution& distribution, const Value& value, Rng& rng) {
  std::vector<double> filled(value.begin(), value.end());
  std::visit([&](const auto& d) { fill_in(d, std::span(filled), rng); }, distribution.variant());
  return {std::move(filled), distribution.shape()};
}

std::optional<std::string> never_yields(const Distribution& distribution, const Value& value) {
  if (value.size() != distribution.size()) return std::nullopt;
  if (const auto* mixture = std::get_if<Mixture>(&distribution.variant())) {
    std::optional<std::string> why;
    for (const Distribution& part : *mixture->components) {
      why = never_yields(part, value);
      if (!why) return std::nullopt;
    }
    return why;
  }
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (std::isnan(value[i])) continue;
    const Bounds bounds = family_bounds(distribution, i);
    const bool whole = !distribution.discrete() || value[i] == std::floor(value[i]);
    if (whole && value[i] >= bounds.low && value[i] <= bounds.high) continue;
    return fmt::format("{} yields {}, never {}", family_name(distribution.family()),
                       bounds_text(bounds, distribution.discrete()), value[i]);
  }
  if (distribution.on_simplex() && !fits_simplex(value)) {
    return fmt::format("{} yields numbers that sum to 1, never {}",
                       family_name(distribution.family()), value.text());
  }
  return std::nullopt;
}

}  // namespace psn
