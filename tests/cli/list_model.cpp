// A simulator that measures its one latent a random number of times.
#include "psn/core/plugin.h"

static void program(psn::Context& ctx) {
  const double mu = ctx.sample(psn::Normal(0, 2), {.name = "mu"});
  const auto n = 1 + ctx.sample(psn::Poisson(20), {.name = "n", .control = false}).integer();
  for (std::int64_t i = 0; i < n; ++i) ctx.observe(psn::Normal(mu, 1), {.name = "x", .index = i});
}

PSN_PLUGIN(psn::Model("list", program, "measures again and again"))
