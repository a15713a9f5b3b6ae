#include "experiments/composite_cure/composite_cure.h"

#include <algorithm>
#include <cmath>

#include "experiments/composite_cure/section.h"
#include "experiments/composite_cure/slab.h"
#include "psn/base/rng.h"

namespace psn::composite_cure {
namespace {

constexpr std::array kCycleMean{20.0, 2.0, 110.0, 60.0, 2.0, 180.0};
constexpr std::array kCycleSd{1.0, 0.05, 1.5, 1.0, 0.05, 1.5};

std::vector<double> sampling_depths() {
  std::vector<double> depths(kDepths);
  for (std::size_t k = 0; k < kDepths; ++k) depths[k] = kDepthSpacing * static_cast<double>(k);
  return depths;
}

using Simulate = std::vector<double> (*)(const Part&, Air, std::span<const double> depths);

std::vector<double> simulate_slab(const Part& part, Air air, std::span<const double> depths) {
  return sampled_temperatures(Slab(part, std::move(air)), depths);
}

std::vector<double> simulate_section(const Part& part, Air air, std::span<const double> depths) {
  return sampled_temperatures(Section(part, std::move(air)), depths);
}

std::vector<double> to_vector(const Value& value) {
  return {value.begin(), value.end()};
}

Value program(Context& ctx, Simulate simulate) {
  static const std::vector<double> depths = sampling_depths();
  const Value setting =
      ctx.observe(Normal(Value(kCycleMean), Value(kCycleSd)), {.name = "temps_config"});
  const Cycle cycle = cycle_of(setting.components());
  const Value config = ctx.sample(Normal(Value{0, 0, 0, 0}, Value{1, 1, 1, 1}), {.name = "config"});
  const Normal air(Value(cycle.sampled()), kAirNoise);
  const Value top = ctx.observe(air, {.name = "air_temp_top"});
  const Value bottom = ctx.observe(air, {.name = "air_temp_bot"});
  const std::vector<double> field =
      simulate(part_of(config.components(), cycle), {to_vector(bottom), to_vector(top)}, depths);
  const Value mean({field.begin() + kDepths, field.end()}, {kTimes, kDepths});
  const Value latent =
      ctx.sample(Normal(mean, kLatentNoise), {.name = "latent_temps", .control = false});
  std::vector<double> sensor(kSamples);
  for (std::size_t j = 0; j < kSamples; ++j) sensor[j] = field[j * kDepths];
  ctx.observe(Normal(Value(sensor), kSensorNoise), {.name = "temps_bottom"});
  const double result = hottest(latent);
  ctx.tag(result, {.name = "mu_w"});
  return result;
}

}  // namespace

Cycle cycle_of(std::span<const double> temps_config) {
  return {temps_config[0], temps_config[1], temps_config[2],
          temps_config[3], temps_config[4], temps_config[5]};
}

Part part_of(std::span<const double> config, const Cycle& cycle) {
  const auto u = [&](std::size_t i) { return std::clamp(config[i], -4.0, 4.0); };
  return {.tool = 10e-3 + 0.25e-3 * u(0),
          .laminate = 33e-3 + 0.5e-3 * u(1),
          .h_bottom = 70 * std::exp(0.15 * u(2)),
          .h_top = 100 * std::exp(0.15 * u(3)),
          .start = cycle.start};
}

Model model() {
  return {"composite-cure", [](Context& ctx) { return program(ctx, simulate_slab); },
          "a composite part cures in an autoclave; heat through its thickness (the paper's 4.3)"};
}

Model model_2d() {
  return {"composite-cure-2d", [](Context& ctx) { return program(ctx, simulate_section); },
          "the same in a cross-section of part and tool; a hundred times the work"};
}

double hottest(const Value& latent_temps) {
  constexpr std::size_t kDepth = 15, kFirst = 30;  // 30 mm, 155 minutes
  double sum = 0;
  for (std::size_t j = kFirst; j < kFirst + 3; ++j) sum += latent_temps[j * kDepths + kDepth];
  return sum / 3;
}

Observations observed_part(int shift) {
  Rng rng(0x6f62, static_cast<std::uint64_t>(shift + 1), 0x637572);
  std::array<double, kCycleMean.size()> setting{};
  for (std::size_t i = 0; i < setting.size(); ++i) setting[i] = kCycleMean[i] + shift * kCycleSd[i];
  std::array<double, 4> config{};
  config.fill(shift);
  const Cycle cycle = cycle_of(setting);
  const auto noisy = [&](std::vector<double> values, double sd) {
    for (double& x : values) x += sd * rng.normal();
    return values;
  };
  Air air;
  air.top = noisy(cycle.sampled(), kAirNoise);
  air.bottom = noisy(cycle.sampled(), kAirNoise);
  const std::array bottom{0.0};
  const std::vector<double> sensor = simulate_slab(part_of(config, cycle), air, bottom);
  return {{"temps_config", Value(setting)},
          {"air_temp_top", Value(air.top)},
          {"air_temp_bot", Value(air.bottom)},
          {"temps_bottom", Value(noisy(sensor, kSensorNoise))}};
}

}  // namespace psn::composite_cure
