// Inference compilation on control-flow: trains an inference network and prints, for several
// observations, the effective sample size of 10,000 weighted traces and the posterior of theta.
//
//   bench_inference PRESET TRACES SEED [option=value...]
//
// Options: bench/recipe.h.
#include <fmt/format.h>

#include <chrono>
#include <string>

#include "bench/recipe.h"
#include "experiments/control_flow/control_flow.h"
#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/infer/importance.h"
#include "psn/nn/run/network_guide.h"
#include "psn/train/trainer.h"

namespace {

void report(psn::Simulator& simulator, std::shared_ptr<const psn::CompiledNetwork> network) {
  for (const double x : {1.0, 2.0, 5.0, 10.0}) {
    const psn::Observations observations{{"x", x}};
    psn::EngineOptions options;
    options.samples = 10'000;
    options.queries = {{.name = "theta"}};
    options.parallelism = {256, 1};
    const auto start = std::chrono::steady_clock::now();
    const auto posterior = psn::importance_sampling(
        simulator, observations, options, psn::network_guide(network, simulator, observations));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const psn::control_flow::ExactPosterior exact(x);
    fmt::print(
        "x = {:2}  ESS {:5.1f} %  theta {:.4f} / {:.4f} (exact {:.4f} / {:.4f})  {:.0f} traces/s\n",
        x, 100 * posterior.effective_sample_size() / 10'000, posterior.mean("theta"),
        std::sqrt(posterior.variance("theta")), exact.mean(), exact.sd(), 10'000 / seconds.count());
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) throw psn::InvalidArgument("usage: bench_inference PRESET TRACES SEED [key=value]");
  psn::Preset preset = psn::preset(argv[1], psn::Purpose::kInference);
  preset.training.traces = std::stoull(argv[2]);
  preset.training.seed = std::stoull(argv[3]);
  preset.training.validation_traces = 10'000;
  preset.training.progress_every = 200;
  psn::bench::set_recipe(preset, {argv + 4, argv + argc});
  psn::InProcess simulator(psn::control_flow::model());
  auto network = std::make_shared<psn::Network>(preset.network, preset.training.seed);
  psn::train_online(simulator, *network, preset.training, [](const psn::Progress& p) {
    fmt::print("{:8} traces  loss {:.4f}  rate {:.1e}  {} addresses  {:.0f} traces/s", p.traces,
               p.loss, p.rate, p.addresses, p.traces_per_second);
    if (p.validation) {
      fmt::print("  held out: {:.4f} +- {:.4f}", p.validation->loss, p.validation->standard_error);
    }
    fmt::print("\n");
  });
  report(simulator, std::make_shared<psn::CompiledNetwork>(network));
} catch (const psn::Error& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
