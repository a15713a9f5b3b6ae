// Generation with a surrogate and inference compilation on one core, beside the raw peak of matrix
// products in the same run.
//
//   OMP_NUM_THREADS=1 build/bin/bench_surrogate [--benchmark_filter=...]
//
// Weights are random but for the transitions, which follow the program's own frequencies, so that
// traces have the program's lengths. Compare ratios within one run.
#include <benchmark/benchmark.h>
#include <dnnl.h>

#include <cmath>
#include <map>

#include "experiments/program_synthesis/program_synthesis.h"
#include "psn/infer/importance.h"
#include "psn/nn/math.h"
#include "psn/nn/run/network_guide.h"
#include "psn/nn/run/surrogate.h"
#include "psn/train/growth.h"
#include "tests/law/network_fixture.h"

namespace psn {
namespace {

void peak_product(benchmark::State& state) {
  nn::use_one_thread_for_products();
  const std::int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  std::vector<float> a(m * k, 0.5f), b(n * k, 0.5f), c(m * n);
  for (auto _ : state) {
    nn::multiply_nt(m, n, k, a.data(), k, b.data(), k, 0.0f, c.data(), n);
    benchmark::DoNotOptimize(c.data());
  }
  state.counters["GFLOP/s"] = benchmark::Counter(
      2e-9 * static_cast<double>(m * n * k) * static_cast<double>(state.iterations()),
      benchmark::Counter::kIsRate);
}
BENCHMARK(peak_product)
    ->Args({512, 600, 160})
    ->Args({512, 600, 600})
    ->Args({512, 2048, 1024})
    ->MinTime(0.3);

void packed_product(benchmark::State& state) {
  const auto m = static_cast<std::size_t>(state.range(0)),
             n = static_cast<std::size_t>(state.range(1)),
             k = static_cast<std::size_t>(state.range(2));
  const std::vector<float> b(n * k, 0.5f);
  const nn::PackedMatrix matrix(n, k, b.data(), k);
  std::vector<float> a(m * k, 0.5f), c(m * matrix.padded());
  for (auto _ : state) {
    matrix.apply(m, a.data(), k, c.data(), matrix.padded());
    benchmark::DoNotOptimize(c.data());
  }
  state.counters["GFLOP/s"] = benchmark::Counter(
      2e-9 * static_cast<double>(m * n * k) * static_cast<double>(state.iterations()),
      benchmark::Counter::kIsRate);
}
BENCHMARK(packed_product)
    ->Args({192, 600, 160})
    ->Args({192, 2048, 1024})
    ->Args({192, 50, 150})
    ->Args({6, 50, 150})
    ->Args({1, 50, 150})
    ->MinTime(0.3);

void gates(benchmark::State& state) {
  const auto h = static_cast<std::size_t>(state.range(0));
  std::vector<float> gates(4 * h), cell(h), tanh(h), hidden(h);
  for (auto _ : state) {
    for (std::size_t j = 0; j < 4 * h; ++j) gates[j] = 0.01f * static_cast<float>(j % 97);
    nn::lstm_gates(h, gates.data(), cell.data(), tanh.data(), hidden.data());
    benchmark::DoNotOptimize(hidden.data());
  }
}
BENCHMARK(gates)->Arg(150)->Arg(512)->MinTime(0.2);

// Transition biases from how often the program takes each.
void follow(Network& network, const std::vector<Trace>& traces) {
  std::map<std::pair<NodeId, NodeId>, double> counts;
  for (const Trace& trace : traces) {
    NodeId previous = Network::kBegin;
    const auto go = [&](NodeId next) { ++counts[{previous, next}], previous = next; };
    for (const Entry& entry : trace.entries) go(*network.find(*entry.address));
    go(Network::kEnd);
  }
  for (const auto& [step, count] : counts) {
    const Node& node = network.node(step.first);
    const Block& block = network.parameters().block(node.transition);
    float* row = network.parameters().values(node.transition) +
                 std::size_t{node.rows_to.at(step.second)[0]} * block.columns;
    row[block.columns - 1] = static_cast<float>(std::log(count));
  }
}

std::shared_ptr<Network> trained_like(const Model& model, const NetworkConfig& config,
                                      std::uint64_t count) {
  InProcess simulator(model);
  const auto traces = test::simulate(simulator, count);
  auto network = std::make_shared<Network>(config, 1);
  test::grow(*network, traces);
  follow(*network, traces);
  return network;
}

void generate(benchmark::State& state, const std::shared_ptr<const Network>& network,
              std::uint64_t count) {
  SurrogateSimulator simulator("s", network);
  std::uint64_t steps = 0, seed = 0;
  const Parallelism parallelism{.width = static_cast<std::size_t>(state.range(0)), .threads = 1};
  for (auto _ : state) {
    run_traces(
        simulator, count, [] { return std::make_unique<PriorGuide>(); },
        [&](std::uint64_t, Trace& trace) { steps += trace.length(); }, {.seed = ++seed},
        parallelism);
  }
  const auto traces = static_cast<double>(count) * static_cast<double>(state.iterations());
  state.counters["traces/s"] = benchmark::Counter(traces, benchmark::Counter::kIsRate);
  state.counters["steps/s"] =
      benchmark::Counter(static_cast<double>(steps), benchmark::Counter::kIsRate);
  state.counters["length"] = static_cast<double>(steps) / traces;
  state.counters["nodes"] = static_cast<double>(network->size());
}

void control_flow_generation(benchmark::State& state) {
  static const auto network = trained_like(control_flow::model(), NetworkConfig{}, 20'000);
  generate(state, network, 40'000);
}
BENCHMARK(control_flow_generation)->Arg(512)->Arg(4096)->Unit(benchmark::kMillisecond)->MinTime(2);

// Without the stack, so programs are not right; their lengths nearly are.
void program_synthesis_generation(benchmark::State& state) {
  NetworkConfig config;
  config.addressing = Addressing::kSite;
  static const auto network = trained_like(program_synthesis::model(), config, 20'000);
  generate(state, network, 10'000);
}
BENCHMARK(program_synthesis_generation)->Arg(512)->Unit(benchmark::kMillisecond)->MinTime(2);

// Seven choices, one of them a field of 1,200 numbers that nobody controls.
Model cure_sized() {
  return {"cure-sized", [](Context& ctx) {
            for (int i = 0; i < 5; ++i) ctx.sample(Normal(0, 1), {.name = "parameter", .index = i});
            ctx.sample(Normal(Value(std::vector<double>(1200, 1.0)), 1),
                       {.name = "field", .control = false});
            ctx.observe(Normal(Value(std::vector<double>(20, 1.0)), 1), {.name = "sensors"});
          }};
}
NetworkConfig cure_config() {
  NetworkConfig config;
  config.core_dim = 512;
  config.core_depth = 2;
  return config;
}

void cure_sized_generation(benchmark::State& state) {
  static const auto network = trained_like(cure_sized(), cure_config(), 100);
  generate(state, network, 2'000);
}
BENCHMARK(cure_sized_generation)->Arg(512)->Unit(benchmark::kMillisecond)->MinTime(2);

// An inference network that knows the model's addresses; what it proposes does not matter here.
std::shared_ptr<const CompiledNetwork> inference_network(const Model& model, NetworkConfig config,
                                                         std::uint64_t count) {
  config.purpose = Purpose::kInference;
  InProcess simulator(model);
  const auto traces = test::simulate(simulator, count);
  const auto network = std::make_shared<Network>(config, 1);
  Growth(*network).absorb(traces);
  return std::make_shared<const CompiledNetwork>(network);
}

void infer(benchmark::State& state, Simulator& simulator,
           const std::shared_ptr<const CompiledNetwork>& network, const Observations& data,
           std::uint64_t count) {
  EngineOptions options;
  options.samples = count;
  options.parallelism = {static_cast<std::size_t>(state.range(0)), 1};
  const auto guide = network_guide(network, simulator, data);
  for (auto _ : state) {
    ++options.seed;
    benchmark::DoNotOptimize(importance_sampling(simulator, data, options, guide));
  }
  state.counters["traces/s"] =
      benchmark::Counter(static_cast<double>(count) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
}

const Observations& control_flow_data() {
  static const Observations data{{"x", Value(5.0)}};
  return data;
}

void control_flow_inference_in_simulator(benchmark::State& state) {
  static const auto network = inference_network(control_flow::model(), {}, 20'000);
  InProcess simulator(control_flow::model());
  infer(state, simulator, network, control_flow_data(), 20'000);
}
BENCHMARK(control_flow_inference_in_simulator)->Arg(512)->Unit(benchmark::kMillisecond)->MinTime(2);

void control_flow_inference_in_surrogate(benchmark::State& state) {
  static const auto network = inference_network(control_flow::model(), {}, 20'000);
  SurrogateSimulator surrogate("s", trained_like(control_flow::model(), NetworkConfig{}, 20'000));
  infer(state, surrogate, network, control_flow_data(), 20'000);
}
BENCHMARK(control_flow_inference_in_surrogate)->Arg(512)->Unit(benchmark::kMillisecond)->MinTime(2);

void cure_sized_inference_in_surrogate(benchmark::State& state) {
  static const auto network = inference_network(cure_sized(), cure_config(), 100);
  SurrogateSimulator surrogate("s", trained_like(cure_sized(), cure_config(), 100));
  const Observations data{{"sensors", Value(std::vector<double>(20, 1.0))}};
  infer(state, surrogate, network, data, 1'000);
}
BENCHMARK(cure_sized_inference_in_surrogate)->Arg(512)->Unit(benchmark::kMillisecond)->MinTime(2);

}  // namespace
}  // namespace psn

BENCHMARK_MAIN();
