// An epidemic as differential equations, with noisy counts (the benchmark's SIR): a sample of 1,000
// of a million people is tested on ten days.
#include <algorithm>
#include <cmath>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/zoo.h"

namespace psn::zoo {
namespace {

// psn simulate zoo-sir --seed 1 --given contact=0.45 recovery=0.13
const std::vector<double> kSirIll = {0, 1, 58, 285, 60, 6, 2, 0, 0, 0};

struct Shares {
  double healthy, ill;
};

Shares sir_change(const Shares& s, double contact, double recovery) {
  const double infections = contact * s.healthy * s.ill;
  return {-infections, infections - recovery * s.ill};
}

// Runge and Kutta's fourth order.
Shares sir_step(const Shares& s, double contact, double recovery, double dt) {
  const auto at = [&](const Shares& k, double h) {
    return sir_change({s.healthy + h * k.healthy, s.ill + h * k.ill}, contact, recovery);
  };
  const Shares a = at({}, 0), b = at(a, dt / 2), c = at(b, dt / 2), d = at(c, dt);
  return {s.healthy + dt / 6 * (a.healthy + 2 * b.healthy + 2 * c.healthy + d.healthy),
          s.ill + dt / 6 * (a.ill + 2 * b.ill + 2 * c.ill + d.ill)};
}

void sir_program(Context& ctx) {
  constexpr int kTests = 10, kDaysBetween = 17, kStepsADay = 4;
  const double contact = ctx.sample(LogNormal(std::log(0.4), 0.5), {.name = "contact"});
  const double recovery = ctx.sample(LogNormal(std::log(0.125), 0.2), {.name = "recovery"});
  Shares now = {1 - 1e-6, 1e-6};
  std::vector<double> ill;
  for (int test = 0; test < kTests; ++test) {
    ill.push_back(std::clamp(now.ill, 0.0, 1.0));
    for (int step = 0; step < kDaysBetween * kStepsADay; ++step) {
      now = sir_step(now, contact, recovery, 1.0 / kStepsADay);
    }
  }
  ctx.observe(Binomial(1000, ill), {.name = "ill"});
}

}  // namespace

Program sir() {
  return {.model = {"zoo-sir", sir_program, "an epidemic as differential equations, noisy counts"},
          .observed = {{"ill", kSirIll}},
          .judged = {{"contact"}, {"recovery"}},
          .source = "quadrature over both rates, with a solver of its own",
          .answer = [] { return references::sir(kSirIll); },
          .draw = [](std::size_t rows,
                     std::uint64_t seed) { return references::draw_sir(kSirIll, rows, seed); }};
}

}  // namespace psn::zoo
