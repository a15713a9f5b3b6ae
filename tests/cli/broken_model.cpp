// Simulators that fail, each in its own way.
#include <cmath>
#include <stdexcept>

#include "psn/core/plugin.h"

static void program(psn::Context& ctx) {
  const double mu = ctx.sample(psn::Normal(0, 1), {.name = "mu"});
#if defined(PSN_FAULT_throws)
  throw std::runtime_error("the mesh is tangled");
#elif defined(PSN_FAULT_hangs)
  for (volatile bool forever = mu == mu; forever;) {
  }
#elif defined(PSN_FAULT_nan)
  ctx.sample(psn::Normal(std::log(-1 - mu * mu), 1), {.name = "next"});
#elif defined(PSN_FAULT_endless)
  for (;;) ctx.sample(psn::Normal(mu, 1), {.name = "step"});
#elif defined(PSN_FAULT_drifts)
  static int runs = 0;  // values beyond what any loss can bear, but only after a while
  ctx.sample(psn::Weibull(++runs > 3000 ? 1e300 : 1.0, 2.0), {.name = "drifting"});
#endif
  ctx.observe(psn::Normal(mu, 1), {.name = "x"});
}

PSN_PLUGIN(psn::Model("broken", program, "fails"))
