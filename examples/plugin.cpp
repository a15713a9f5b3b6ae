// A simulator of one's own, as a plugin:
//
//   g++ -std=c++20 -O2 -shared -fPIC plugin.cpp -o libmodel.so -I PSN -L PSN/build/lib -lpsn_core
//   psn infer ./libmodel.so --observe count=12
#include "psn/core/plugin.h"

// How many customers came while the shop was open? Arrivals are a Poisson process of unknown rate.
static psn::Value shop(psn::Context& ctx) {
  const double rate = ctx.sample(psn::Gamma(2, 1), {.name = "rate"});  // an hour
  const double hours = ctx.sample(psn::Uniform(6, 9), {.name = "hours"});
  ctx.observe(psn::Poisson(rate * hours), {.name = "count"});
  return rate;
}

PSN_PLUGIN(psn::Model("shop", shop, "customers of a shop"))
