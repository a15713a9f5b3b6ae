// How close a surrogate of control-flow comes to the simulator: trains one and prints the KL.
//
//   bench_fidelity PRESET TRACES SEED [option=value...]
//
// Options: rate, batch, likelihood, touched, inherit, head, transition, embedding, addressing (0
// full addresses, 1 without instance, 2 without index), validation.
#include <fmt/format.h>

#include <string>

#include "experiments/control_flow/control_flow.h"
#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/train/trainer.h"

namespace {

void set(psn::Preset& preset, const std::string& key, double x) {
  const auto count = static_cast<std::size_t>(x);
  if (key == "rate") {
    preset.training.learning_rate = x;
  } else if (key == "batch") {
    preset.training.batch_size = count;
  } else if (key == "likelihood") {
    preset.training.loss = count ? psn::Loss::kNegativeLogLikelihood : psn::Loss::kDivergence;
  } else if (key == "touched") {
    preset.training.adam.touched_only = count != 0;
  } else if (key == "inherit") {
    preset.training.inherit = count != 0;
  } else if (key == "head") {
    preset.network.variable_layers.hidden_dim = count;
  } else if (key == "transition") {
    preset.network.transition_hidden_dim = count;
  } else if (key == "embedding") {
    preset.network.sample_embedding_dim = count;
  } else if (key == "addressing") {  // 0 instance, 1 site, 2 shared
    preset.network.addressing = static_cast<psn::Addressing>(count);
  } else if (key == "validation") {
    preset.training.validation_traces = count;
  } else {
    throw psn::InvalidArgument("unknown option " + key);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) throw psn::InvalidArgument("usage: bench_fidelity PRESET TRACES SEED [key=value]");
  psn::Preset preset = psn::preset(argv[1]);
  preset.training.traces = std::stoull(argv[2]);
  preset.training.seed = std::stoull(argv[3]);
  preset.training.validation_traces = 20'000;
  preset.training.progress_every = 200;
  preset.training.validate_every = 400;
  for (int i = 4; i < argc; ++i) {
    const std::string text = argv[i];
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) throw psn::InvalidArgument("not key=value: " + text);
    set(preset, text.substr(0, equals), std::stod(text.substr(equals + 1)));
  }
  psn::InProcess simulator(psn::control_flow::model());
  psn::Network network(preset.network, preset.training.seed);
  psn::train_network(simulator, network, preset.training, [](const psn::Progress& p) {
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
