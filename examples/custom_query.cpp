// A query may be any function of the trace: here the length of a random walk that first leaves
// [-3, 3], given a noisy measurement of where it ended.
#include <cmath>
#include <cstdio>

#include "psn/core/in_process.h"
#include "psn/infer/metropolis.h"

void walk(psn::Context& ctx) {
  double position = 0;
  while (std::abs(position) < 3) {
    position += ctx.sample(psn::Normal(0.1, 1), {.name = "step"}).scalar();
  }
  ctx.observe(psn::Normal(position, 0.2), {.name = "end"});
}

int main() {
  psn::InProcess simulator(psn::Model("walk", walk));
  psn::MetropolisOptions options;
  options.samples = 200'000;
  options.burn_in = 10'000;
  options.queries = {{"steps", {}, [](const psn::Trace& trace) {
                        return psn::Value(static_cast<double>(trace.length() - 1));
                      }}};
  const auto result = psn::metropolis_hastings(simulator, {{"end", 3.4}}, options);
  std::printf("steps given an end at 3.4: mean %.2f, median %.0f; acceptance %.2f\n",
              result.posterior.mean("steps"), result.posterior.quantile("steps", 0.5),
              result.acceptance);
}
