#include "psn/nn/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "psn/nn/cores/core.h"

namespace psn {

namespace {

// Those of the variable, else of its site, else of all.
template <class Layers>
const Layers& layers_for(const std::map<std::string, Layers>& by_name, const Layers& others,
                         const std::string& name, const std::string& site_name) {
  for (const std::string& key : {name, site_name}) {
    const auto found = by_name.find(key);
    if (!key.empty() && found != by_name.end()) return found->second;
  }
  return others;
}

}  // namespace

const VariableLayers& NetworkConfig::layers_of(const std::string& name,
                                               const std::string& site_name) const {
  return layers_for(variable_embedding, variable_layers, name, site_name);
}

const ObservationLayers& NetworkConfig::observation_layers_of(const std::string& name,
                                                              const std::string& site_name) const {
  return layers_for(observe_embedding, observation_layers, name, site_name);
}

std::optional<std::string> NetworkConfig::problem() const {
  const auto cores = core_names();
  if (std::find(cores.begin(), cores.end(), core) == cores.end()) {
    return fmt::format("there is no core '{}'; there are {}", core, fmt::join(cores, ", "));
  }
  const auto outside = [](std::size_t n, std::size_t most) { return n < 1 || n > most; };
  const std::pair<const char*, std::size_t> dimensions[] = {
      {core == "lstm" ? "lstm_dim" : "core_dim", core_dim},
      {"sample_embedding_dim", sample_embedding_dim},
      {"address_embedding_dim", address_embedding_dim},
      {"distribution_type_embedding_dim", distribution_type_embedding_dim},
      {"transition_hidden_dim", transition_hidden_dim}};
  constexpr std::size_t kWidest = 1 << 15, kDeepest = 64, kLayers = 6, kMixture = 1024,
                        kHeads = 256;
  for (const auto& [name, n] : dimensions) {
    if (outside(n, kWidest)) return fmt::format("{} must lie in 1 to {}, not {}", name, kWidest, n);
  }
  if (purpose == Purpose::kInference && addressing == Addressing::kShared) {
    return "an inference network cannot share indices";
  }
  if (outside(core_depth, kDeepest)) {
    return fmt::format("{} must lie in 1 to {}, not {}",
                       core == "lstm" ? "lstm_depth" : "core_depth", kDeepest, core_depth);
  }
  if (outside(attention_heads, kHeads)) {
    return fmt::format("attention_heads must lie in 1 to {}, not {}", kHeads, attention_heads);
  }
  if (outside(mixture_components, kMixture)) {
    return fmt::format("mixture_components must lie in 1 to {}, not {}", kMixture,
                       mixture_components);
  }
  const auto wrong = [&](const VariableLayers& layers) {
    return outside(layers.num_layers, kLayers) || outside(layers.hidden_dim, kWidest);
  };
  const auto named = std::find_if(variable_embedding.begin(), variable_embedding.end(),
                                  [&](const auto& entry) { return wrong(entry.second); });
  if (wrong(variable_layers) || named != variable_embedding.end()) {
    return fmt::format("layers of {}: num_layers must lie in 1 to {}, hidden_dim in 1 to {}",
                       wrong(variable_layers) ? "variables" : "'" + named->first + "'", kLayers,
                       kWidest);
  }
  const auto wrong_observation = [&](const ObservationLayers& layers) {
    return outside(layers.num_layers, kLayers) || outside(layers.hidden_dim, kWidest) ||
           layers.convolution_layers > kLayers || outside(layers.channels, kWidest) ||
           layers.skip > kWidest;
  };
  const auto observed =
      std::find_if(observe_embedding.begin(), observe_embedding.end(),
                   [&](const auto& entry) { return wrong_observation(entry.second); });
  if (wrong_observation(observation_layers) || observed != observe_embedding.end()) {
    return fmt::format(
        "layers of {}: num_layers must lie in 1 to {}, convolution_layers in 0 to {}, hidden_dim "
        "and channels in 1 to {}, skip in 0 to {}",
        wrong_observation(observation_layers) ? "observations" : "'" + observed->first + "'",
        kLayers, kLayers, kWidest, kWidest);
  }
  return std::nullopt;
}

}  // namespace psn
