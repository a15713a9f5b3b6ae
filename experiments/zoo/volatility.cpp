// Stochastic volatility: daily returns whose spread wanders, for two hundred days.
#include <cmath>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/zoo.h"

namespace psn::zoo {
namespace {

// psn simulate zoo-volatility --seed 1 --given level=-0.5 persistence=0.95 spread=0.25
const std::vector<double> kReturns = {
    1.16,  -0.04, 0.33,  0.92,  0.33,  0.74,  -0.82, -1.15, -1.95, 0.97,  1.60,  0.05,  1.88,
    1.96,  -0.08, 1.49,  0.55,  0.06,  0.54,  -0.63, 0.04,  -0.31, 1.53,  -0.73, -0.92, 1.22,
    -0.18, -1.47, -0.89, -1.81, -0.03, 1.46,  -2.07, -2.60, -1.72, -1.65, 2.46,  0.09,  -2.06,
    1.22,  1.35,  -1.73, 3.90,  -0.49, -2.83, 3.47,  -0.57, 1.32,  0.97,  2.04,  1.31,  -0.09,
    -1.19, 1.15,  0.57,  1.23,  -0.17, -0.14, 0.93,  3.55,  -0.52, 0.35,  1.15,  -0.28, 0.44,
    0.06,  -1.08, 1.05,  -0.26, 0.09,  -0.38, -0.03, 0.41,  -0.34, -0.02, -0.58, 0.72,  -1.88,
    -0.24, -2.07, -0.80, -2.49, -1.72, -1.03, -0.34, -0.52, 2.74,  -1.76, 0.91,  -1.19, 1.36,
    -0.28, -0.48, 0.33,  0.56,  0.27,  1.12,  1.11,  0.41,  -1.38, 1.38,  -1.17, 1.93,  -0.05,
    0.86,  -0.28, 0.41,  5.90,  2.53,  0.67,  -0.60, 2.48,  1.64,  0.77,  1.93,  -2.66, -0.87,
    2.67,  -2.89, -0.60, 1.30,  0.80,  -0.89, 1.62,  0.44,  0.01,  -1.07, -0.15, -0.95, 0.67,
    0.64,  -0.20, 0.18,  -0.38, -0.77, -0.10, 0.26,  -0.02, 0.07,  -0.03, -0.69, 0.24,  0.01,
    0.85,  -0.95, -0.11, -0.97, -0.56, -0.70, 1.18,  -0.42, 0.16,  -0.02, -0.16, 1.04,  -0.35,
    -0.38, 0.04,  0.24,  0.09,  -0.18, 0.08,  -0.49, 0.52,  0.21,  -0.17, -0.14, 0.10,  0.26,
    0.12,  -1.20, -0.79, 0.12,  -0.07, -0.17, 0.28,  0.05,  -0.83, 0.27,  0.54,  -0.16, 0.72,
    -0.29, -0.50, -0.05, -0.56, -0.08, -0.27, -0.26, 1.23,  0.99,  -0.73, 0.23,  0.98,  0.54,
    -0.25, 1.29,  -0.26, 0.95,  -0.55};

void volatility_program(Context& ctx) {
  constexpr std::int64_t kDays = 200;
  const double level = ctx.sample(Normal(0, 1), {.name = "level"});
  const double persistence = ctx.sample(Uniform(0.7, 0.99), {.name = "persistence"});
  const double spread = ctx.sample(LogNormal(std::log(0.3), 0.5), {.name = "spread"});
  const double start = spread / std::sqrt(1 - persistence * persistence);
  double h = ctx.sample(Normal(level, start), {.name = "h", .index = 0});
  for (std::int64_t day = 0;; ++day) {
    ctx.observe(Normal(0, std::exp(h / 2)), {.name = "return", .index = day});
    if (day + 1 == kDays) return;
    h = ctx.sample(Normal(level + persistence * (h - level), spread),
                   {.name = "h", .index = day + 1});
  }
}

}  // namespace

Program volatility() {
  return {
      .model = {"zoo-volatility", volatility_program, "returns whose spread wanders, 200 steps"},
      .observed = {{"return", kReturns}},
      .judged = {{"level"}, {"persistence"}, {"spread"}},
      .source = "quadrature over three parameters; the volatility filtered on a grid",
      .answer = references::volatility,
      .long_run = [] { return references::volatility_long_run(kReturns); }};
}

}  // namespace psn::zoo
