#include "experiments/composite_cure/plan.h"

#include <algorithm>
#include <array>

namespace psn::composite_cure {
namespace {

// The paper's sizes (Appendix D.3).
Preset paper_recipe(Purpose purpose, double learning_rate) {
  Preset paper = preset("paper", purpose);
  NetworkConfig& network = paper.network;
  network.core_dim = 512;
  network.core_depth = 2;
  network.sample_embedding_dim = 256;
  network.variable_embedding["temps_config"] = {2, 256};
  network.observation_layers = {.num_layers = 2, .hidden_dim = 500};
  network.observe_embedding["temps_config"] = {.num_layers = 2, .hidden_dim = 256};
  if (purpose == Purpose::kSurrogate) network.variable_embedding["latent_temps"] = {2, 500};
  paper.training.batch_size = 256;
  paper.training.rate.learning_rate = learning_rate;
  return paper;
}

// Temperatures are nearly linear in what they depend on, which layers of ReLU hide from the
// training: observations and values have linear ones, and what is not linear is left to the core
// (docs/composite-cure.md).
Preset own_surrogate(std::size_t lstm_dim, std::size_t embedding_dim) {
  Preset own = preset("default", Purpose::kSurrogate);
  own.network.core_dim = lstm_dim;
  own.network.sample_embedding_dim = embedding_dim;
  own.network.variable_embedding["latent_temps"] = {.num_layers = 1};
  own.network.variable_embedding["temps_bottom"] = {.num_layers = 1};
  own.network.recall = 0;
  own.training.batch_size = 32;
  own.training.rate.learning_rate = 5e-3;
  own.training.adam.clip_norm = 0;
  return own;
}

Preset own_inference() {
  Preset own = preset("default", Purpose::kInference);
  own.network.core_dim = 256;
  own.network.sample_embedding_dim = 32;
  own.network.observation_layers = {.num_layers = 1, .hidden_dim = 128};
  own.network.variable_layers = {.num_layers = 1};
  own.training.batch_size = 64;
  own.training.rate.learning_rate = 1e-3;
  return own;
}

}  // namespace

Plan plan(const ExperimentRequest& request) {
  const bool paper = request.preset == "paper";
  Plan plan{.surrogate = paper ? paper_recipe(Purpose::kSurrogate, 1e-4) : own_surrogate(192, 128),
            .inference = paper ? paper_recipe(Purpose::kInference, 1e-3) : own_inference(),
            .smallest = own_surrogate(64, 64)};
  const std::array trainings{&plan.surrogate.training, &plan.inference.training,
                             &plan.smallest.training};
  for (TrainOptions* training : trainings) training->traces = 1'000'000;
  if (paper) plan.inference.training.traces = 500'000;
  if (request.quick) {
    plan.stored = 20'000;
    plan.validation = plan.compared = 1'000;
    for (TrainOptions* training : trainings) training->traces = 200'000;
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
  for (TrainOptions* training : trainings) {
    if (request.traces > 0) training->traces = request.traces;
    training->seed = request.seed;
    training->monitor = request.monitor;
    constexpr std::uint64_t kPoints = 20;  // of the learning curve
    training->progress_every = training->validate_every =
        std::max<std::uint64_t>(1, training->traces / training->batch_size / kPoints);
  }
  return plan;
}

}  // namespace psn::composite_cure
