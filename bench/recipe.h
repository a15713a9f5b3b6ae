// Recipes on the command line of a benchmark: "rate=1e-3 batch=64".
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "psn/base/error.h"
#include "psn/train/trainer.h"

namespace psn::bench {

inline void set_recipe(Preset& preset, const std::vector<std::string>& arguments) {
  NetworkConfig& network = preset.network;
  TrainOptions& training = preset.training;
  const auto count = [](auto& field) {
    return [&field](double x) { field = static_cast<std::remove_cvref_t<decltype(field)>>(x); };
  };
  const std::map<std::string, std::function<void(double)>> options{
      {"rate", count(training.rate.learning_rate)},
      {"batch", count(training.batch_size)},
      {"touched", count(training.adam.touched_only)},
      {"inherit", count(training.inherit)},
      {"validation", count(training.validation_traces)},
      {"likelihood",
       [&](double x) {
         training.loss = x != 0 ? Loss::kNegativeLogLikelihood : Loss::kDivergence;
       }},
      {"addressing", count(network.addressing)},  // 0 instance, 1 site, 2 shared
      {"lstm", count(network.core_dim)},
      {"head", count(network.variable_layers.hidden_dim)},
      {"transition", count(network.transition_hidden_dim)},
      {"embedding", count(network.sample_embedding_dim)},
      {"components", count(network.mixture_components)},
      {"layers", count(network.observation_layers.num_layers)},
      {"width", count(network.observation_layers.hidden_dim)},
      {"skip", count(network.observation_layers.skip)},
  };
  for (const std::string& text : arguments) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) throw InvalidArgument("not key=value: " + text);
    const auto option = options.find(text.substr(0, equals));
    if (option == options.end()) throw InvalidArgument("unknown option " + text);
    option->second(std::stod(text.substr(equals + 1)));
  }
}

}  // namespace psn::bench
