// The shape of a network. Names and defaults follow the paper's tables (Appendix D.1).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "psn/base/field.h"

namespace psn {

// What the network's vocabulary is made of.
enum class Addressing {
  kInstance,  // full addresses, the paper's form
  kSite,      // addresses without their instance; the runtime counts, the instance is an input
  kShared,  // without index as well: all indices of a site share its layers, the index is an input
};

// Layers between the core's output and the parameters of one variable's distribution.
struct VariableLayers {
  std::size_t num_layers = 2;
  std::size_t hidden_dim = 50;
};

// Layers that embed one observation, for an inference network. Observations of two or three
// dimensions go through convolutions first: windows of three, two apart. Beside the layers, which
// start almost constant and can hide an observation for good, it may go straight to the core.
struct ObservationLayers {
  std::size_t num_layers = 4;
  std::size_t hidden_dim = 10;
  std::size_t convolution_layers = 2;  // of observations that have the dimensions for it
  std::size_t channels = 8;
  // At most so many numbers go past the layers: the observation's own, or as many linear
  // combinations of them if it has more. 0: none, as in the paper.
  std::size_t skip = 0;
  // All indices of a list share the layers, and what is made of them is averaged: a list may then
  // have any length (psn/nn/observation.h).
  bool shared = false;
};

// What a network is for.
enum class Purpose {
  kSurrogate,  // to run in the simulator's place
  kInference,  // to propose latent values, given observations
};

struct NetworkConfig {
  Purpose purpose = Purpose::kSurrogate;
  Addressing addressing = Addressing::kInstance;
  // What carries a trace from step to step: one of psn/nn/cores. Of an lstm, the paper calls its
  // sizes lstm_dim and lstm_depth, and so do files.
  std::string core = "lstm";
  std::size_t core_dim = 150;
  std::size_t core_depth = 1;
  std::size_t attention_heads = 4;  // of an attention core, in each layer
  std::size_t sample_embedding_dim = 10;
  std::size_t address_embedding_dim = 24;
  std::size_t distribution_type_embedding_dim = 24;
  // Width of the layer before the transition logits.
  std::size_t transition_hidden_dim = 50;
  VariableLayers variable_layers;                            // of variables not named below
  std::map<std::string, VariableLayers> variable_embedding;  // by variable or site name
  std::size_t mixture_components = 5;  // of the head of a Mixture, and of proposals
  // Surrogates only: learn tags and what programs return (psn/nn/steps.h). Not unless asked for:
  // each is one more step.
  bool tags = false;
  // Surrogates only: whether the runtime counts for the network (psn/nn/tally/tally.h).
  bool tally = false;
  // Surrogates only: so many numbers made of the last values of all addresses go past the core, to
  // the heads; 0: none do, as in the paper.
  std::size_t recall = 0;
  // Inference networks only.
  // Vectors are proposed component by component, each by a mixture of its own that knows those
  // before it; or as a whole, by one mixture over vectors.
  bool sequential_proposals = false;
  // So many numbers made of the observations go past the core, to the heads of all variables; 0:
  // none do, as in the paper.
  std::size_t observation_context = 0;
  // Observations more than three units from the middle count by their logarithm.
  bool compress_tails = false;
  ObservationLayers observation_layers;                        // of those not named below
  std::map<std::string, ObservationLayers> observe_embedding;  // by variable or site name

  // What is wrong with it; nullopt if nothing is.
  std::optional<std::string> problem() const;
  const VariableLayers& layers_of(const std::string& name, const std::string& site_name) const;
  const ObservationLayers& observation_layers_of(const std::string& name,
                                                 const std::string& site_name) const;
};

// The tables of their fields, but for layers and their names, which are made of the tables of
// layers.
const Fields<NetworkConfig>& network_fields();
const Fields<VariableLayers>& variable_layer_fields();
const Fields<ObservationLayers>& observation_layer_fields();

}  // namespace psn
