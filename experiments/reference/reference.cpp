#include "experiments/reference/reference.h"

#include <cmath>
#include <utility>

namespace psn::reference {
namespace {

const double kPriorSd = std::sqrt(5.0);
const double kNoise = std::sqrt(2.0);

void observe_twice(Context& ctx, double mu) {
  ctx.observe(Normal(mu, kNoise), 8.0, {.name = "obs0"});
  ctx.observe(Normal(mu, kNoise), 9.0, {.name = "obs1"});
}

Value gaussian_program(Context& ctx) {
  const double mu = ctx.sample(Normal(1, kPriorSd), {.name = "mu"});
  observe_twice(ctx, mu);
  return mu;
}

double marsaglia(Context& ctx, double mean, double sd) {
  const auto square = [](const Value& point) { return point[0] * point[0] + point[1] * point[1]; };
  const Value point = ctx.until(
      [&] {
        const double u = ctx.sample(Uniform(-1, 1), {.name = "u"});
        const double v = ctx.sample(Uniform(-1, 1), {.name = "v"});
        return Value{u, v};
      },
      [&](const Value& drawn) { return square(drawn) < 1; });
  const double s = square(point);
  return mean + sd * point[0] * std::sqrt(-2 * std::log(s) / s);
}

Value marsaglia_program(Context& ctx) {
  const double mu = marsaglia(ctx, 1, kPriorSd);
  ctx.tag(mu, {.name = "mu"});
  observe_twice(ctx, mu);
  return mu;
}

Value hmm_program(Context& ctx, std::int64_t steps) {
  const HmmParameters p;
  std::int64_t state = 0;
  for (std::int64_t t = 0; t < steps; ++t) {
    const double* row = t == 0 ? p.initial : p.transition[state];
    state = ctx.sample(Categorical({row[0], row[1], row[2]}), {.name = "x", .index = t}).integer();
    ctx.observe(Normal(p.mean[state], p.noise), p.data[t % 16], {.name = "obs", .index = t});
  }
  return static_cast<double>(state);
}

double fibonacci(std::int64_t n) {
  double current = 0, next = 1;
  for (; n > 0; --n) current = std::exchange(next, current + next);
  return current;
}

Value branching_program(Context& ctx) {
  const std::int64_t count = ctx.sample(Poisson(4), {.name = "count"}).integer();
  double rate = 6;
  if (count <= 4) {
    rate = 1 + fibonacci(3 * count) + ctx.sample(Poisson(4), {.name = "extra"});
  }
  ctx.observe(Poisson(rate), 6.0, {.name = "obs"});
  return static_cast<double>(count);
}

Value epidemic_program(Context& ctx) {
  constexpr std::int64_t kPeople = 20, kWeeks = 10;
  constexpr double kReported = 0.8;  // share of infections that are
  constexpr double kData[kWeeks] = {1, 4, 6, 3, 1, 0, 0, 0, 0, 0};
  const double contacts = ctx.sample(LogNormal(std::log(2.0), 0.3), {.name = "contacts"});
  const double recovery = ctx.sample(LogNormal(std::log(0.7), 0.3), {.name = "recovery"});
  double weekly[kWeeks] = {};
  double time = 0;  // in weeks
  std::int64_t healthy = kPeople - 1, ill = 1;
  for (std::int64_t i = 0; ill > 0; ++i) {
    const auto sick = static_cast<double>(ill);
    const double infections = contacts * sick * static_cast<double>(healthy) / kPeople;
    const double rate = infections + recovery * sick;
    time += ctx.sample(Exponential(rate), {.name = "wait", .index = i});
    const Value infection =
        ctx.sample(Bernoulli(infections / rate), {.name = "infection", .index = i});
    if (infection == 0) {
      --ill;
      continue;
    }
    --healthy;
    ++ill;
    if (time < kWeeks) ++weekly[static_cast<std::size_t>(time)];
  }
  for (std::int64_t week = 0; week < kWeeks; ++week) {
    ctx.observe(Poisson(0.1 + kReported * weekly[week]), kData[week],
                {.name = "reported", .index = week});
  }
  return static_cast<double>(kPeople - healthy);
}

}  // namespace

Model gaussian() {
  return {"gaussian", gaussian_program, "a normal mean with two normal observations"};
}

Model gaussian_marsaglia() {
  return {"gaussian-marsaglia", marsaglia_program,
          "the same with the mean drawn by a rejection loop"};
}

Model hmm() {
  return {"hmm", [](Context& ctx) { return hmm_program(ctx, 16); },
          "a hidden Markov model: 3 states, 16 steps"};
}

Model hmm_64() {
  return {"hmm-64", [](Context& ctx) { return hmm_program(ctx, 64); },
          "the same with 64 steps, the data four times over"};
}

Model branching() {
  return {"branching", branching_program, "a Poisson count that selects deeper branches"};
}

Model epidemic() {
  return {"epidemic", epidemic_program, "an epidemic among 20 people, event by event"};
}

}  // namespace psn::reference
