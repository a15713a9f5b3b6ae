// A simulator with a factor: nothing is wrong with it, but no surrogate can learn it.
#include "psn/core/plugin.h"

static void program(psn::Context& ctx) {
  const double mu = ctx.sample(psn::Normal(0, 1), {.name = "mu"});
  ctx.factor(-mu * mu, {.name = "penalty"});
  ctx.observe(psn::Normal(mu, 1), {.name = "x"});
}

PSN_PLUGIN(psn::Model("weighing", program, "has a factor"))
