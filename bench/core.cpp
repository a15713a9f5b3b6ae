// The core on one core: engines in traces per second, and what one random choice costs and why.
//
//   build/bin/bench_core [--benchmark_filter=...]
//
// Compare ratios within one run; absolute figures move from machine to machine.
#include <benchmark/benchmark.h>

#include "experiments/control_flow/control_flow.h"
#include "experiments/reference/reference.h"
#include "psn/core/address_cache.h"
#include "psn/core/fiber.h"
#include "psn/core/in_process.h"
#include "psn/infer/importance.h"
#include "psn/infer/metropolis.h"

namespace psn {
namespace {

const Observations kControlFlowData{{"x", Value(5.0)}};

EngineOptions engine_options(std::uint64_t samples, std::size_t width) {
  EngineOptions options;
  options.samples = samples;
  options.queries = {{"theta"}};
  options.parallelism = {.width = width, .threads = 1};
  return options;
}

void importance_control_flow(benchmark::State& state) {
  InProcess simulator(control_flow::model());
  const auto options = engine_options(100'000, static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(importance_sampling(simulator, kControlFlowData, options));
  }
  state.SetItemsProcessed(state.iterations() * 100'000);
}
BENCHMARK(importance_control_flow)
    ->Arg(1)
    ->Arg(16)
    ->Arg(64)
    ->Arg(512)
    ->Unit(benchmark::kMillisecond);

void metropolis_control_flow(benchmark::State& state) {
  InProcess simulator(control_flow::model());
  MetropolisOptions options;
  static_cast<EngineOptions&>(options) = engine_options(100'000, 64);
  options.chains = 1;
  options.random_walk = state.range(0) == 1;
  for (auto _ : state) {
    benchmark::DoNotOptimize(metropolis_hastings(simulator, kControlFlowData, options));
  }
  state.SetItemsProcessed(state.iterations() * 100'000);
}
BENCHMARK(metropolis_control_flow)->ArgName("rmh")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

// A program of 1,000 named standard normals: time per item is one random choice, all included.
void choice_in_process(benchmark::State& state) {
  const Distribution normal = Normal(0, 1);
  InProcess simulator(Model("normals", [&](Context& ctx) {
    for (int i = 0; i < 1000; ++i) ctx.sample(normal, {.name = "x"});
  }));
  EngineOptions options;
  options.samples = 100;
  options.parallelism = {.width = 16, .threads = 1};
  for (auto _ : state) benchmark::DoNotOptimize(simulate(simulator, options));
  state.SetItemsProcessed(state.iterations() * 100'000);
}
BENCHMARK(choice_in_process)->Unit(benchmark::kMillisecond);

// The parts of a choice.
void part_fiber_switch_there_and_back(benchmark::State& state) {
  Fiber* self = nullptr;
  Fiber fiber(
      [&] {
        for (;;) self->suspend();
      },
      64 * 1024);
  self = &fiber;
  for (auto _ : state) fiber.resume();
}
BENCHMARK(part_fiber_switch_there_and_back);

void part_address(benchmark::State& state) {
  AddressTable table;
  AddressCache cache(table);
  const Distribution normal = Normal(0, 1);
  for (auto _ : state) {
    const Variable* variable = cache.variable("", {.name = "bern", .index = 3},
                                              std::source_location::current(), &normal, "");
    benchmark::DoNotOptimize(cache.address(variable, 1));
  }
}
BENCHMARK(part_address);

void part_random_bits(benchmark::State& state) {
  Rng rng(1);
  for (auto _ : state) benchmark::DoNotOptimize(rng.bits());
}
BENCHMARK(part_random_bits);

const std::vector<std::pair<const char*, Distribution>>& distributions() {
  static const std::vector<std::pair<const char*, Distribution>> all{
      {"Normal", Normal(0, 1)},
      {"Categorical2", Categorical({0.3, 0.7})},
      {"Beta", Beta(2, 5)},
      {"Poisson4", Poisson(4)},
      {"Gamma", Gamma(2, 1)}};
  return all;
}

void part_draw(benchmark::State& state) {
  const auto& [name, distribution] = distributions()[static_cast<std::size_t>(state.range(0))];
  state.SetLabel(name);
  Rng rng(1);
  for (auto _ : state) benchmark::DoNotOptimize(distribution.draw(rng));
}
BENCHMARK(part_draw)->DenseRange(0, 4);

void part_log_prob(benchmark::State& state) {
  const auto& [name, distribution] = distributions()[static_cast<std::size_t>(state.range(0))];
  state.SetLabel(name);
  Rng rng(1);
  const Value x = distribution.draw(rng);
  for (auto _ : state) benchmark::DoNotOptimize(distribution.log_prob(x));
}
BENCHMARK(part_log_prob)->DenseRange(0, 4);

void part_check_parameters(benchmark::State& state) {
  const Distribution normal = Normal(0, 1);
  for (auto _ : state) benchmark::DoNotOptimize(normal.valid());
}
BENCHMARK(part_check_parameters);

void part_record(benchmark::State& state) {
  std::vector<Entry> entries;
  entries.reserve(1000);
  for (auto _ : state) {
    if (entries.size() == 1000) entries.clear();
    entries.emplace_back().value = Value(1.0);
  }
}
BENCHMARK(part_record);

}  // namespace
}  // namespace psn

BENCHMARK_MAIN();
