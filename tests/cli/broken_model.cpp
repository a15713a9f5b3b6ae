// Simulators that fail or ask for much, each in its own way.
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "psn/core/plugin.h"

// Far deeper than any stack.
[[maybe_unused]] static double deep(double x, int levels) {
  volatile char frame[1024];
  frame[levels % 1024] = 1;
  return levels == 0 ? x : deep(x, levels - 1) + frame[0];
}

// A single frame larger than the stack, of which little is used, far below it.
[[maybe_unused]] [[gnu::noinline]] static double leap(double x) {
  volatile double frame[40'000];
  for (int i = 0; i < 500; ++i) frame[i] = x;
  return frame[499];
}

static void program(psn::Context& ctx) {
  const double mu = ctx.sample(psn::Normal(0, 1), {.name = "mu"});
#if defined(PSN_FAULT_throws)
  throw std::runtime_error("the mesh is tangled");
#elif defined(PSN_FAULT_rarely)
  if (mu > 1.6449) throw std::runtime_error("\x1b[31mthe\r\nmesh is tangled\x07");  // 5 %
#elif defined(PSN_FAULT_hangs)
  for (volatile bool forever = mu == mu; forever;) {
  }
#elif defined(PSN_FAULT_stalls)
  static int runs = 0;  // after a while
  for (volatile bool forever = ++runs > 3000; forever;) {
  }
#elif defined(PSN_FAULT_sleeps)
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
#elif defined(PSN_FAULT_nan)
  ctx.sample(psn::Normal(std::log(-1 - mu * mu), 1), {.name = "next"});
#elif defined(PSN_FAULT_endless)
  for (;;) ctx.sample(psn::Normal(mu, 1), {.name = "step"});
#elif defined(PSN_FAULT_drifts)
  static int runs = 0;  // values beyond what any loss can bear, but only after a while
  ctx.sample(psn::Weibull(++runs > 3000 ? 1e300 : 1.0, 2.0), {.name = "drifting"});
#elif defined(PSN_FAULT_long)  // a million choices in all
  for (int i = 0; i < 999'998; ++i) ctx.sample(psn::Normal(mu, 1), {.name = "step", .index = i});
#elif defined(PSN_FAULT_overflows)
  ctx.tag(deep(mu, 1 << 20), {.name = "depth"});
#elif defined(PSN_FAULT_leaps)
  if (mu > 1.6449) ctx.tag(leap(mu), {.name = "depth"});  // 5 %
#elif defined(PSN_FAULT_exits)
  std::exit(3);
#elif defined(PSN_FAULT_crashes)
  *reinterpret_cast<volatile char*>(16) = 1;
#elif defined(PSN_FAULT_infinite)
  ctx.sample(psn::Exponential(1e-308), {.name = "wait"});
#elif defined(PSN_FAULT_weights)  // that look like a value
  const psn::Distribution part = psn::Normal(psn::Value{mu, 0, 1}, 1);
  ctx.sample(psn::Mixture(psn::Value{1, 1, 1}, {part, part, part}), {.name = "parts"});
#elif defined(PSN_FAULT_name)
  ctx.sample(psn::Normal(0, 1), {.name = std::string(100'000, 'n')});
#elif defined(PSN_FAULT_dimensions)
  ctx.sample(psn::Normal(psn::Value(std::vector{mu}, psn::Shape(40, 1)), 1), {.name = "cube"});
#endif
  ctx.observe(psn::Normal(mu, 1), {.name = "x"});
}

PSN_PLUGIN(psn::Model("broken", program, "fails"))
