// A simulator in a program of its own:
//   psn infer 'exec:build/bin/example_remote_cpp {endpoint}' --observe obs0=8 --observe obs1=9
#include <cmath>

#include "psn/ppx/server.h"

double program(psn::Context& ctx) {
  const double mu = ctx.sample(psn::Normal(1, std::sqrt(5.0)), {.name = "mu"});
  ctx.observe(psn::Normal(mu, std::sqrt(2.0)), {.name = "obs0"});
  ctx.observe(psn::Normal(mu, std::sqrt(2.0)), {.name = "obs1"});
  return mu;
}

int main(int argc, char** argv) {
  return psn::ppx::serve_main({"gaussian", program}, argc, argv);
}
