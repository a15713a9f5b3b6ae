// What the families whose components hang together have in common: a kernel of whole vectors, its
// parameters as lists of numbers. Internal to psn.
#pragma once

#include <string>
#include <vector>

#include "psn/core/families/independent.h"

namespace psn {

template <class K>
typename K::P numbers_of(const Joint<K>& d) {
  typename K::P numbers;
  for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = d.parameters[k].components();
  return numbers;
}

template <class K>
std::size_t size_of(const Joint<K>& d) {
  return d.parameters[0].size();
}

template <class K>
Shape shape_of(const Joint<K>& d) {
  return {static_cast<std::int64_t>(size_of(d))};
}

template <class K>
bool is_scalar(const Joint<K>&) {
  return false;
}

// What a link does not yield; nullptr: all is well.
inline const char* broken_link(family::Link link, std::span<const double> numbers) {
  using family::Link;
  std::size_t row = 0;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    if (!std::isfinite(numbers[k])) return "finite";
    const bool diagonal = k == family::row_of_triangle(row) + row;
    row += diagonal;
    if (numbers[k] > 0) continue;
    if (link == Link::kPositive) return "positive";
    if (link == Link::kTriangle && diagonal) return "positive on its diagonal";
  }
  return nullptr;
}

template <class K>
std::string explain(const Joint<K>& d) {
  if (d.flaw) return fmt::format("{}: {}, not {}", K::kName, d.flaw, d.parameters.back().text());
  const std::size_t n = size_of(d);
  for (std::size_t k = 0; k < d.parameters.size(); ++k) {
    const auto& [name, link, role] = K::kParameters[k];
    const Value& p = d.parameters[k];
    if (p.rank() != 1 || p.size() != family::count(link, n)) {
      return fmt::format("{}: {} is no vector of {}", K::kName, name,
                         k == 0 ? "numbers" : fmt::format("{} numbers", family::count(link, n)));
    }
    if (n < K::kFewest) {
      return fmt::format("{}: {} has {} components; {} at least", K::kName, name, n, K::kFewest);
    }
    if (const char* wrong = broken_link(link, p.components())) {
      return fmt::format("{}: {} must be {}", text_with_parameters(d), name, wrong);
    }
  }
  if constexpr (requires(const typename K::P& p) { K::problem(p); }) {
    const char* wrong = K::problem(numbers_of(d));
    if (wrong) return fmt::format("{}: {}", text_with_parameters(d), wrong);
  }
  return "";
}

template <class K>
bool is_valid(const Joint<K>& d) {
  return explain(d).empty();
}

// A vector that f(numbers) writes.
template <class K, class F>
Value written(const Joint<K>& d, F f) {
  std::vector<double> numbers(size_of(d));
  f(std::span<double>(numbers));
  return Value(numbers);
}

template <class K>
Value draw_from(const Joint<K>& d, Rng& rng) {
  return written(d, [&](auto x) { K::draw(numbers_of(d), rng, x); });
}

template <class K>
double log_prob_of(const Joint<K>& d, const Value& x) {
  require_size(K::kName, size_of(d), x);
  return K::log_prob(numbers_of(d), x.components());
}

template <class K>
Value mean_of(const Joint<K>& d) {
  return written(d, [&](auto x) { K::mean(numbers_of(d), x); });
}

template <class K>
Value variance_of(const Joint<K>& d) {
  return written(d, [&](auto x) { K::variance(numbers_of(d), x); });
}

template <class K>
Support support_of(const Joint<K>&, std::size_t /*component*/) {
  return K::support();
}

template <class K>
std::string text_of(const Joint<K>& d) {
  return text_with_parameters(d);
}

template <class K>
std::optional<double> kl_of(const Joint<K>& p, const Joint<K>& q) {
  return K::kl(numbers_of(p), numbers_of(q));
}

template <class K>
std::span<const Value> parameters_in(const Joint<K>& d) {
  return d.parameters;
}

}  // namespace psn
