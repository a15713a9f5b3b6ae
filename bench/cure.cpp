// The simulators of curing composites at several resolutions: the worst error in the field that the
// program samples, and processor time of a run.
//
//   bench_cure     1D with 1 C of noise in the air, beside .125 mm and 1 s; 2D beside half the mesh
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cmath>

#include "experiments/composite_cure/composite_cure.h"
#include "experiments/composite_cure/section.h"
#include "experiments/composite_cure/slab.h"
#include "psn/base/rng.h"

namespace {

using namespace psn::composite_cure;

std::vector<double> depths() {
  std::vector<double> z(kDepths);
  for (std::size_t i = 0; i < z.size(); ++i) z[i] = kDepthSpacing * static_cast<double>(i);
  return z;
}

Air air(std::uint64_t draw, double noise) {
  const auto cycle = Cycle{}.sampled();
  Air air{cycle, cycle};
  psn::Rng rng(draw);
  for (auto* side : {&air.bottom, &air.top}) {
    for (double& t : *side) t += noise * rng.normal();
  }
  return air;
}

double worst_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

double seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// The best of several runs: what the machine does besides only adds.
template <class Run>
double milliseconds(int runs, Run run) {
  double best = HUGE_VAL;
  for (int i = 0; i < runs; ++i) {
    const double start = seconds();
    run();
    best = std::min(best, seconds() - start);
  }
  return 1e3 * best;
}

void slab() {
  fmt::print("1D           worst error     ms a run\n");
  const auto field = [](std::uint64_t draw, const Resolution& resolution) {
    return sampled_temperatures(Slab(Part{}, air(draw, kAirNoise), resolution), depths());
  };
  constexpr std::uint64_t kDraws = 3;
  std::vector<std::vector<double>> exact;
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) exact.push_back(field(draw, {80, 264, 1}));
  for (const Resolution& resolution :
       {Resolution{4, 13, 30}, {8, 26, 30}, {10, 33, 10}, {20, 66, 10}}) {
    double worst = 0;
    for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
      worst = std::max(worst, worst_difference(field(draw, resolution), exact[draw]));
    }
    fmt::print("{:>5.3g} mm {:>2.0f} s {:>11.4f} C {:>10.3f}\n", 10.0 / resolution.tool,
               resolution.step, worst, milliseconds(15, [&] { field(0, resolution); }));
  }
}

void section() {
  const auto field = [](unsigned finer) {
    Outline outline;
    outline.part_elements *= finer;
    outline.flange_elements *= finer;
    const Resolution& r = kSectionResolution;
    return sampled_temperatures(
        Section(Part{}, air(0, 0), outline, {r.tool * finer, r.laminate * finer, r.step / finer}),
        depths());
  };
  fmt::print("2D, middle, 2 x 1.25 mm, 30 s: {:.4f} C, {:.1f} ms\n",
             worst_difference(field(1), field(2)), milliseconds(5, [&] { field(1); }));
}

}  // namespace

int main() {
  slab();
  section();
}
