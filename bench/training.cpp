// Training throughput on one core, beside the raw speed of the matrix product it is made of.
//
//   bench_training [traces]     traces/s on control-flow (LSTM 150, batch 512), with theta from
//                               Beta(2, 5), and from Beta(2, 2) so that addresses keep appearing;
//                               on program-synthesis, by full address and by site
#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <string>
#include <vector>

#include "experiments/control_flow/control_flow.h"
#include "experiments/program_synthesis/program_synthesis.h"
#include "psn/core/in_process.h"
#include "psn/nn/math.h"
#include "psn/train/stream.h"
#include "psn/train/trainer.h"

namespace {

// Time of this thread on a processor, so that other work on the machine counts as little as it can.
struct Clock {
  using time_point = double;
  static double now() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
};

double seconds_since(double start) {
  return Clock::now() - start;
}

double product_peak() {
  constexpr std::size_t m = 512, n = 600, k = 600;
  std::vector<float> a(m * k, 0.5f), b(n * k, 0.25f), c(m * n);
  double best = 0;
  for (int round = 0; round < 40; ++round) {
    const auto start = Clock::now();
    psn::nn::multiply_nt(m, n, k, a.data(), k, b.data(), k, 0, c.data(), n);
    best = std::max(best, 2e-9 * m * n * k / seconds_since(start));
  }
  return best;
}

// control-flow with a heavier tail of loops: hundreds of addresses keep appearing.
psn::Value long_loops(psn::Context& ctx) {
  const double theta = ctx.sample(psn::Beta(2, 2), {.name = "theta"});
  double sum = 0;
  for (std::int64_t i = 0;; ++i) {
    const auto bern = ctx.sample(psn::Categorical({0.3, 0.7}), {.name = "bern", .index = i});
    sum += bern.integer() == 1 ? ctx.sample(psn::Normal(1.0, 0.25), {.name = "z_1", .index = i})
                               : ctx.sample(psn::Normal(1.5, 0.5), {.name = "z_2", .index = i});
    const auto go_on = ctx.sample(psn::Categorical({1 - theta, theta}), {.name = "c", .index = i});
    if (go_on.integer() == 0 || i == 199) break;
  }
  ctx.observe(psn::Normal(sum, 0.5), {.name = "x"});
  return theta;
}

// Seven choices, one of them a field of 1,000 numbers: 2,000 outputs.
psn::Value cure_sized(psn::Context& ctx) {
  for (int i = 0; i < 5; ++i) ctx.sample(psn::Normal(0, 1), {.name = "parameter", .index = i});
  ctx.sample(psn::Normal(psn::Value(std::vector<double>(980, 1.0)), 1), {.name = "field"});
  ctx.observe(psn::Normal(psn::Value(std::vector<double>(20, 1.0)), 1), {.name = "sensors"});
  return 0.0;
}

// Seconds of the network's work only: traces are made before the clock starts.
void measure(const char* name, psn::Model model, std::uint64_t count, bool known,
             const psn::NetworkConfig& config = {}) {
  psn::InProcess simulator(std::move(model));
  constexpr std::size_t kBatch = 512;
  psn::TraceStream stream(simulator, {.seed = 1, .count = count, .ahead = count});
  std::vector<psn::Trace> all;
  stream.take(count, all);
  const psn::Preset preset = psn::preset("default");
  psn::Network network(config, 1);
  psn::Growth growth(network);
  if (known) growth.absorb(all);
  psn::Gradient gradient(network);
  psn::Adam adam(preset.training.adam);
  double growing = 0, computing = 0, updating = 0, best = 0;
  std::size_t steps = 0;
  for (std::size_t first = 0; first + kBatch <= count; first += kBatch) {
    const std::span traces(all.data() + first, kBatch);
    auto start = Clock::now();
    growth.absorb(traces);
    const psn::Batch batch = growth.flatten(traces);
    const double grown = seconds_since(start);
    start = Clock::now();
    gradient.compute(batch, psn::Loss::kDivergence);
    const double computed = seconds_since(start);
    start = Clock::now();
    adam.update(network.parameters(), 1e-3, gradient.touched());
    const double updated = seconds_since(start);
    growing += grown;
    computing += computed;
    updating += updated;
    best = std::max(best, kBatch / (grown + computed + updated));
    steps += batch.rows();
  }
  const double total = growing + computing + updating;
  fmt::print(
      "{:34} {:8.0f} traces/s (best batch {:.0f}), {:8.0f} steps/s, {} addresses; "
      "growth {:.0f} %, gradient {:.0f} %, Adam {:.0f} %\n",
      name, static_cast<double>(count) / total, best, static_cast<double>(steps) / total,
      network.size(), 100 * growing / total, 100 * computing / total, 100 * updating / total);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t count = argc > 1 ? std::stoull(argv[1]) : 51200;
  psn::nn::use_one_thread_for_products();
  fmt::print("product 512 x 600 x 600: {:.0f} GFLOP/s\n", product_peak());
  measure("control-flow", psn::control_flow::model(), count, false);
  measure("control-flow, all addresses known", psn::control_flow::model(), count, true);
  measure("Beta(2, 2), addresses appearing", {"long-loops", long_loops}, count, false);
  measure("Beta(2, 2), all addresses known", {"long-loops", long_loops}, count, true);
  measure("control-flow, inference network", psn::control_flow::model(), count, false,
          {.purpose = psn::Purpose::kInference});
  // Five times as many choices in a trace.
  measure("program-synthesis, full addresses", psn::program_synthesis::model(), count / 5, true);
  measure("program-synthesis, sites", psn::program_synthesis::model(), count / 5, true,
          {.addressing = psn::Addressing::kSite});
  measure("cure-sized, LSTM 512 x 2", {"cure-sized", cure_sized},
          std::max<std::uint64_t>(1024, count / 25), true, {.core_dim = 512, .core_depth = 2});
  fmt::print("product 512 x 600 x 600: {:.0f} GFLOP/s\n", product_peak());
}
