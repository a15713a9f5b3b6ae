#include "experiments/composite_cure/plan.h"

#include <algorithm>

namespace psn::composite_cure {
namespace {

// The paper's sizes (Appendix D.3).
void use_paper_sizes(Plan& plan) {
  for (Preset* recipe : {&plan.surrogate, &plan.inference}) {
    NetworkConfig& network = recipe->network;
    network.lstm_dim = 512;
    network.lstm_depth = 2;
    network.sample_embedding_dim = 256;
    network.variable_embedding["temps_config"] = {2, 256};
    network.observation_layers = {.num_layers = 2, .hidden_dim = 500};
    network.observe_embedding["temps_config"] = {.num_layers = 2, .hidden_dim = 256};
  }
  plan.surrogate.network.variable_embedding["latent_temps"] = {2, 500};
}

// Networks as small as the accuracy allows. Temperatures are nearly linear in what they depend on,
// which layers of ReLU hide from the training: observations and values have linear ones, and what
// is not linear is left to the core (docs/composite-cure.md).
void use_own_sizes(Plan& plan) {
  NetworkConfig& surrogate = plan.surrogate.network;
  surrogate.lstm_dim = 192;
  surrogate.sample_embedding_dim = 128;
  surrogate.variable_embedding["latent_temps"] = {.num_layers = 1};
  surrogate.variable_embedding["temps_bottom"] = {.num_layers = 1};
  NetworkConfig& inference = plan.inference.network;
  inference.lstm_dim = 256;
  inference.sample_embedding_dim = 32;
  inference.observation_layers = {.num_layers = 1, .hidden_dim = 128};
  inference.variable_layers = {.num_layers = 1};
}

}  // namespace

Plan plan(const ExperimentRequest& request) {
  Plan plan{.surrogate = preset(request.preset, Purpose::kSurrogate),
            .inference = preset(request.preset, Purpose::kInference)};
  TrainOptions &surrogate = plan.surrogate.training, &inference = plan.inference.training;
  surrogate.traces = inference.traces = 1'000'000;
  if (request.preset == "paper") {
    use_paper_sizes(plan);
    inference.traces = 500'000;
    surrogate.batch_size = inference.batch_size = 256;
    surrogate.rate.learning_rate = 1e-4;
    inference.rate.learning_rate = 1e-3;
  } else {
    use_own_sizes(plan);
    surrogate.batch_size = 32;
    inference.batch_size = 64;
    surrogate.rate.learning_rate = 5e-3;
    inference.rate.learning_rate = 1e-3;
  }
  if (request.quick) {
    plan.stored = 20'000;
    plan.validation = plan.compared = 1'000;
    surrogate.traces = inference.traces = 200'000;
    plan.samples = 5'000;
    plan.prior = 15'000;
    plan.tuned_on = {50, 150};
    plan.tuning_seen = 20'000;
  }
  if (request.stored > 0) {
    plan.stored = request.stored;
    plan.validation = std::min(plan.validation, plan.stored / 20);
    plan.compared = std::min(plan.compared, plan.stored / 20);
  }
  if (request.traces > 0) surrogate.traces = inference.traces = request.traces;
  for (TrainOptions* training : {&surrogate, &inference}) {
    training->seed = request.seed;
    training->monitor = request.monitor;
    constexpr std::uint64_t kPoints = 20;  // of the learning curve
    training->progress_every = training->validate_every =
        std::max<std::uint64_t>(1, training->traces / training->batch_size / kPoints);
  }
  return plan;
}

}  // namespace psn::composite_cure
