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
#endif
  ctx.observe(psn::Normal(mu, 1), {.name = "x"});
}

PSN_PLUGIN(psn::Model("broken", program, "fails"))
