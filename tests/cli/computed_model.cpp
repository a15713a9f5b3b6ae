// A simulator whose likelihood nobody has: what it observes is computed.
#include "psn/core/plugin.h"

static void program(psn::Context& ctx) {
  const double mu = ctx.sample(psn::Normal(0, 1), {.name = "mu"});
  const double noise = ctx.sample(psn::Normal(0, 0.5), {.name = "noise", .control = false});
  ctx.observe_value(mu + noise, {.name = "y"});
}

PSN_PLUGIN(psn::Model("computed", program, "computes what it observes"))
