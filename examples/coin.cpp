// The smallest program: is this coin fair? Seven heads out of ten, a Beta(1, 1) prior.
#include <cstdio>

#include "psn/core/in_process.h"
#include "psn/infer/importance.h"

psn::Value coin(psn::Context& ctx) {
  const double p = ctx.sample(psn::Beta(1, 1), {.name = "p"});
  ctx.observe(psn::Binomial(10, p), {.name = "heads"});
  return p;
}

int main() {
  psn::InProcess simulator(psn::Model("coin", coin));
  psn::EngineOptions options;
  options.samples = 100'000;
  options.queries = {{"p"}};
  const auto posterior = psn::importance_sampling(simulator, {{"heads", 7.0}}, options);
  std::printf("P(heads): mean %.3f (exact %.3f), 90 %% interval [%.3f, %.3f]\n",
              posterior.mean("p"), 8.0 / 12, posterior.quantile("p", 0.05),
              posterior.quantile("p", 0.95));
}
