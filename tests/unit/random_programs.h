// Programs that a seed makes up, for properties that hold whatever a program does.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "psn/core/model.h"

namespace psn::test {

// What a program is made of comes from `rng`, anew and the same in every run; `x` is of the run, so
// that parameters are the same in all runs, or filled with one number, or all different.
class RandomProgram {
 public:
  RandomProgram(Rng rng, double x) : rng_(rng), x_(x) {}

  Distribution distribution(const Shape& shape, std::size_t depth) {
    switch (rng_.below(depth > 0 ? 14 : 12)) {
      case 0:
        return Normal(any(shape), positive(shape));
      case 1:
        return Uniform(Value(-1 - x_ * x_), positive(shape));
      case 2:
        return categorical(shape);
      case 3:
        return Poisson(positive(shape));
      case 4:
        return Bernoulli(fraction(shape));
      case 5:
        return Beta(positive(shape), positive(shape));
      case 6:
        return Exponential(positive(shape));
      case 7:
        return Gamma(positive(shape), positive(shape));
      case 8:
        return LogNormal(any(shape), positive(shape));
      case 9:
        return Binomial(Value(static_cast<double>(rng_.below(20))), fraction(shape));
      case 10:
        return Weibull(positive(shape), positive(shape));
      case 11:
        return TruncatedNormal(any(shape), positive(shape), Value(-5.0), Value(5.0));
      default:
        return mixture(shape, depth);
    }
  }

  // Of a whole vector, if it is one: what hangs together does not mix with what does not.
  Distribution any_distribution(const Shape& shape) {
    if (shape.size() != 1 || shape[0] == 1 || !one_in(3)) return distribution(shape, 2);
    if (one_in(2)) return Dirichlet(positive(shape));
    const auto n = static_cast<std::size_t>(shape[0]);
    std::vector<double> lower(n * n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) lower[i * n + j] = 1 + x_ * x_ * (i == j);
    }
    return MultivariateNormal::from_cholesky(any(shape), Value(lower, {shape[0], shape[0]}));
  }

  // Parts of parts of parts, deeper than can be kept.
  static Distribution deep(std::size_t depth) {
    if (depth == 0) return Normal(0, 1);
    return Mixture(Value{1.0}, {deep(depth - 1)});
  }

  // Now and then one of more dimensions than can be kept.
  Shape shape() {
    if (one_in(60)) return Shape(20 + rng_.below(25), 1);
    Shape result(rng_.below(4));
    for (auto& extent : result) extent = 1 + static_cast<std::int64_t>(rng_.below(5));
    return result;
  }

  // Now and then a longer one than can be kept.
  std::string text() {
    if (one_in(60)) return std::string(60'000 + rng_.below(60'000), 'n');
    constexpr const char* kPieces[] = {"a", "b_1", "_", "é", " ", "__", "ß", "日", "[0]", "\""};
    std::string result = "n";
    for (auto pieces = rng_.below(4); pieces > 0; --pieces) result += kPieces[rng_.below(10)];
    return result;
  }

  Value any(const Shape& shape) {
    const auto kind = rng_.below(4);
    const double own = rng_.uniform();
    if (shape.empty() || kind < 2) return filled(shape, kind % 2 == 0 ? own : std::sin(x_) * own);
    std::vector<double> components(element_count(shape));
    for (double& c : components) c = kind == 2 ? rng_.uniform() : std::sin(x_ * rng_.uniform());
    return {std::move(components), shape};
  }

  bool one_in(std::uint64_t n) { return rng_.below(n) == 0; }
  std::size_t below(std::size_t n) { return rng_.below(n); }

 private:
  static Value filled(const Shape& shape, double number) {
    return {std::vector<double>(element_count(shape), number), shape};
  }
  template <class F>
  Value mapped(const Shape& shape, F f) {
    const Value values = any(shape);
    std::vector<double> components(values.begin(), values.end());
    for (double& c : components) c = f(c);
    return {std::move(components), shape};
  }
  Value positive(const Shape& shape) {
    return mapped(shape, [](double v) { return 1 + v * v; });  // no density is infinite
  }
  Value fraction(const Shape& shape) {
    return mapped(shape, [](double v) { return v * v; });
  }
  Distribution categorical(Shape shape) {
    shape.push_back(1 + static_cast<std::int64_t>(rng_.below(4)));
    return Categorical(positive(shape));
  }
  // As many parts as the value has components, often: such weights look like a value.
  Distribution mixture(const Shape& shape, std::size_t depth) {
    const std::size_t size = element_count(shape);
    const std::size_t parts = one_in(2) && size < 20 ? size : 1 + rng_.below(4);
    std::vector<Distribution> components;
    while (components.size() < parts) components.push_back(distribution(shape, depth - 1));
    const Shape weights{static_cast<std::int64_t>(parts)};
    return Mixture(one_in(2) ? filled(weights, 1) : positive(weights), std::move(components));
  }

  Rng rng_;
  double x_;
};

inline Model random_model(std::uint64_t seed) {
  return Model("random", [seed](Context& ctx) {
    const double x = ctx.sample(Normal(0, 1), {.name = "x"});
    RandomProgram program(Rng(seed, 7), x);
    for (auto sites = 1 + program.below(6); sites > 0; --sites) {
      const std::string name = program.text(), scope = program.text();
      const auto inside = ctx.scope(scope);
      SiteOptions options{.name = name, .control = program.one_in(2)};
      if (program.one_in(3)) options.index = static_cast<std::int64_t>(program.below(1000)) - 500;
      const Shape shape = program.shape();
      const auto role = program.below(8);
      if (role == 0) {
        ctx.tag(program.any(shape), options);
      } else if (role == 1) {
        ctx.factor(-x * x, options);
      } else if (role == 2) {
        ctx.observe(program.any_distribution(shape), options);
      } else {
        ctx.sample(program.one_in(60) ? program.deep(20) : program.any_distribution(shape),
                   options);
      }
    }
    return program.one_in(3) ? Value() : program.any(program.shape());
  });
}

}  // namespace psn::test
