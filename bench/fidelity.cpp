// How close a surrogate of control-flow comes to the simulator: trains one and prints the KL.
//
//   bench_fidelity PRESET TRACES SEED [option=value...]
//
// Options: bench/recipe.h.
#include <fmt/format.h>

#include <string>

#include "bench/recipe.h"
#include "experiments/control_flow/control_flow.h"
#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/train/trainer.h"

int main(int argc, char** argv) try {
  if (argc < 4) throw psn::InvalidArgument("usage: bench_fidelity PRESET TRACES SEED [key=value]");
  psn::Preset preset = psn::preset(argv[1]);
  preset.training.traces = std::stoull(argv[2]);
  preset.training.seed = std::stoull(argv[3]);
  preset.training.validation_traces = 20'000;
  preset.training.progress_every = 200;
  preset.training.validate_every = 400;
  psn::bench::set_recipe(preset, {argv + 4, argv + argc});
  psn::InProcess simulator(psn::control_flow::model());
  psn::Network network(preset.network, preset.training.seed);
  psn::train_online(simulator, network, preset.training, [](const psn::Progress& p) {
    fmt::print("{:8} traces  loss {:.4f}  kl {:.4f}  rate {:.1e}  {} addresses  {:.0f} traces/s",
               p.traces, p.loss, p.kl, p.rate, p.addresses, p.traces_per_second);
    if (p.validation) {
      fmt::print("  held out: {:.5f} +- {:.5f}", p.validation->kl, p.validation->standard_error);
    }
    fmt::print("\n");
  });
} catch (const psn::Error& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
