// A simulator with all sorts of observations, some of which not every run comes to.
#include "psn/core/plugin.h"

static void program(psn::Context& ctx) {
  const double mu = ctx.sample(psn::Normal(0, 1), {.name = "mu"});
  const double rate = ctx.sample(psn::Gamma(2, 1), {.name = "rate"});
  ctx.sample(psn::Normal(psn::Value({mu, 0, 0, 0}, {2, 2}), 1), {.name = "grid"});
  const bool flag = ctx.sample(psn::Bernoulli(0.5), {.name = "flag"}) == 1;
  ctx.observe(psn::Poisson(rate), {.name = "count"});
  ctx.observe(psn::Normal(mu, psn::Value{1, 2, 0.5}), {.name = "field"});
  if (flag) ctx.observe(psn::Normal(mu, 1), {.name = "seldom"});
  for (int i = 0; i < 2; ++i) ctx.observe(psn::Normal(mu, 1), {.name = "twice"});
  if (flag) {
    ctx.observe(psn::Normal(mu, psn::Value{1, 1, 1}), {.name = "either"});
  } else {
    ctx.observe(psn::Normal(mu, 1), {.name = "either"});
  }
  for (int i = 0; i < 30; ++i) ctx.observe(psn::Normal(mu, 1), {.name = "series", .index = i});
}

PSN_PLUGIN(psn::Model("observed", program, "is observed"))
