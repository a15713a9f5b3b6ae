// A program that uses all there is to store.
#pragma once

#include <cmath>
#include <vector>

#include "psn/core/model.h"

namespace psn::test {

// Every family, role and shape; names, indices, scopes, loops; parameters that never change, that
// change together, and that change one by one.
inline Model everything() {
  return Model("everything", [](Context& ctx) {
    const double x = ctx.sample(Normal(1, 2), {.name = "x"});
    ctx.sample(Uniform(x, x + 1), {.name = "u"});
    const auto k = ctx.sample(Categorical({0.2, 0.3, 0.5}), {.name = "k"}).integer();
    ctx.sample(Categorical(Value({0.25, 0.75, x * x, 1}, {2, 2})), {.name = "rows"});
    ctx.sample(Poisson(3), {.name = "count", .control = false});
    ctx.sample(Bernoulli(0.5), {.name = "b"});
    ctx.sample(Beta(2, 3.0 + static_cast<double>(k)), {.name = "beta"});
    ctx.sample(Exponential(2), {});
    ctx.sample(Gamma(2, Value{1.0, 2.0}), {.name = "gamma"});
    ctx.sample(LogNormal(0, 1), {.name = "log"});
    ctx.sample(Binomial(10, 0.5), {.name = "binomial"});
    ctx.sample(Weibull(1, 2), {.name = "weibull"});
    ctx.sample(StudentT(3, x, 1), {.name = "student"});
    ctx.sample(NegativeBinomial(3, std::abs(x) + 1), {.name = "counted"});
    ctx.sample(Geometric(1 / (2 + x * x)), {.name = "waited"});
    ctx.sample(Laplace(0, std::abs(x) + 1), {.name = "laplace"});
    ctx.sample(TruncatedNormal(0, 1, -1, std::abs(x)), {.name = "truncated"});
    ctx.sample(Dirichlet({1, 2, std::abs(x) + 1}), {.name = "shares"});
    ctx.sample(Dirichlet({2, 2, 2, 2}), {.name = "equal shares"});
    ctx.sample(MultivariateNormal({x, x, 1, 0}, Value({2, 1, 0, 0, 1, 2, 0, 0,  //
                                                       0, 0, 1, 0, 0, 0, 0, 1 + x * x},
                                                      {4, 4})),
               {.name = "together"});
    ctx.sample(Mixture(Value{1, 2}, {MultivariateNormal({0, x}, Value({2, 1, 1, 2}, {2, 2})),
                                     Normal(Value{x, x}, 1)}),
               {.name = "mixed"});
    ctx.sample(Mixture(Value{1, 2}, {Normal(x, 1), Uniform(0, 1)}), {.name = "mixture"});
    ctx.sample(Mixture(Value{1, 2}, {Mixture(Value{1.0}, {Normal(Value{x, x, x, x}, 1)}),
                                     Normal(Value{1, 1, 1, 1}, 1)}),
               {.name = "nested"});
    const auto outer = ctx.scope("outer");
    for (std::int64_t i = 0; i <= k; ++i) {
      const auto inner = ctx.scope("inner", i);
      ctx.sample(Normal(Value(std::vector<double>{x, 1, 2, 3, 4}),
                        Value(std::vector<double>(5, k == 0 ? 1.0 : std::abs(x) + 1))),
                 {.name = "vector", .index = i});
      ctx.sample(Normal(0, 1), {.name = "again"});
    }
    ctx.tag(Value(std::vector<double>(static_cast<std::size_t>(k) + 1, -0.0)), {.name = "tag"});
    ctx.tag(Value({1, 2, 3, 4, x, 6}, {2, 3}), {.name = "matrix"});
    ctx.factor(-std::abs(x), {.name = "factor"});
    ctx.observe_value(Value{x, 2 * x}, {.name = "computed"});
    ctx.observe(Normal(Value{x, x}, 0.5), {.name = "y"});
    return k == 1 ? Value({x, x}) : k == 2 ? Value() : Value(x);
  });
}

}  // namespace psn::test
