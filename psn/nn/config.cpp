#include "psn/nn/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "psn/nn/cores/core.h"

namespace psn {

namespace {

constexpr std::size_t kWidest = 1 << 15, kMostLayers = 6;

// Among core_names(); their number for one that is not among them.
std::size_t place_of_core(const NetworkConfig& config) {
  const auto cores = core_names();
  return static_cast<std::size_t>(std::find(cores.begin(), cores.end(), config.core) -
                                  cores.begin());
}
void set_core(NetworkConfig& config, std::size_t place) {
  config.core = core_names()[place];
}

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

template <class Layers>
std::optional<std::string> problem_of_layers(const Fields<Layers>& fields, const char* of_all,
                                             const Layers& others,
                                             const std::map<std::string, Layers>& by_name) {
  if (const auto wrong = problem_of(fields, others)) {
    return fmt::format("layers of {}: {}", of_all, *wrong);
  }
  for (const auto& [name, layers] : by_name) {
    if (const auto wrong = problem_of(fields, layers)) {
      return fmt::format("layers of '{}': {}", name, *wrong);
    }
  }
  return std::nullopt;
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

const Fields<NetworkConfig>& network_fields() {
  using Config = NetworkConfig;
  static const auto whole = [](const char* name, std::size_t Config::*member, std::uint64_t high,
                               const char* help) -> Field<Config> {
    return {name, Field<Config>::Whole{std::mem_fn(member), 1, high}, help};
  };
  const Field<Config>::Test is_no_lstm = [](const Config& c) { return c.core != "lstm"; };
  const Field<Config>::Test infers = [](const Config& c) {
    return c.purpose == Purpose::kInference;
  };
  const auto of_core = [&](Field<Config> field, const char* other_name) {
    field.other_name = other_name;
    field.has_other = is_no_lstm;  // an lstm's have the paper's names
    return field;
  };
  static const Fields<Config> fields{
      {"purpose",
       choice_of<Config, Purpose>([](Config& c) -> Purpose& { return c.purpose; },
                                  {"surrogate", "inference"}),
       "what the network is for"},
      {"addressing",
       choice_of<Config, Addressing>([](Config& c) -> Addressing& { return c.addressing; },
                                     {"instance", "site", "shared"}),
       "vocabulary: full addresses, those without instance, or without index too"},
      {"tags", Field<Config>::Flag{[](Config& c) -> bool& { return c.tags; }, "learn", "ignore"},
       "surrogate: whether to learn tags and what the program returns, each as one more step",
       [](const Config& c) { return c.purpose == Purpose::kSurrogate; }, false},
      {"tally", Field<Config>::Flag{[](Config& c) -> bool& { return c.tally; }, "keep", "none"},
       "surrogate: whether visits, counts of categories, sums and last values of sites that come "
       "up again and again are inputs",
       [](const Config& c) { return c.purpose == Purpose::kSurrogate; }, false},
      {"recall", Field<Config>::Whole{std::mem_fn(&Config::recall), 0, kWidest},
       "surrogate: numbers made of the last values of all addresses that go past the core",
       [](const Config& c) { return c.purpose == Purpose::kSurrogate; }, false},
      {"core",
       Field<Config>::Choice{place_of_core, set_core, {core_names().begin(), core_names().end()}},
       "what carries a trace from step to step", is_no_lstm, false},
      of_core(whole("lstm_dim", &Config::core_dim, kWidest, "width of the core"), "core_dim"),
      of_core(whole("lstm_depth", &Config::core_depth, 64, "layers of the core"), "core_depth"),
      {"attention_heads", Field<Config>::Whole{std::mem_fn(&Config::attention_heads), 1, 256},
       "of an attention core, in each layer",
       [](const Config& c) { return c.core == "attention"; }},
      whole("sample_embedding_dim", &Config::sample_embedding_dim, kWidest,
            "width of a value's embedding"),
      whole("address_embedding_dim", &Config::address_embedding_dim, kWidest,
            "width of an address's embedding"),
      whole("distribution_type_embedding_dim", &Config::distribution_type_embedding_dim, kWidest,
            "width of a distribution type's embedding"),
      whole("transition_hidden_dim", &Config::transition_hidden_dim, kWidest,
            "width of the layer before a transition"),
      whole("mixture_components", &Config::mixture_components, 1024,
            "of proposals, and of the head of a Mixture"),
      {"proposals",
       Field<Config>::Flag{std::mem_fn(&Config::sequential_proposals), "sequential", "joint"},
       "inference: whether vectors are proposed component by component, or as a whole", infers,
       false},
      {"observation_context",
       Field<Config>::Whole{std::mem_fn(&Config::observation_context), 0, kWidest},
       "inference: numbers made of the observations that go past the core", infers, false},
      {"observation_tails",
       Field<Config>::Flag{std::mem_fn(&Config::compress_tails), "compressed", "plain"},
       "inference: whether far observations count by their logarithm", infers, false}};
  return fields;
}

const Fields<VariableLayers>& variable_layer_fields() {
  using Whole = Field<VariableLayers>::Whole;
  static const Fields<VariableLayers> fields{
      {"num_layers", Whole{std::mem_fn(&VariableLayers::num_layers), 1, kMostLayers},
       "layers, the last one included"},
      {"hidden_dim", Whole{std::mem_fn(&VariableLayers::hidden_dim), 1, kWidest},
       "width of those between"}};
  return fields;
}

const Fields<ObservationLayers>& observation_layer_fields() {
  using Layers = ObservationLayers;
  using Whole = Field<Layers>::Whole;
  static const Fields<Layers> fields{
      {"num_layers", Whole{std::mem_fn(&Layers::num_layers), 1, kMostLayers},
       "layers, the last one included"},
      {"hidden_dim", Whole{std::mem_fn(&Layers::hidden_dim), 1, kWidest}, "width of each"},
      {"convolution_layers", Whole{std::mem_fn(&Layers::convolution_layers), 0, kMostLayers},
       "before them, for arrays of two or three dimensions"},
      {"channels", Whole{std::mem_fn(&Layers::channels), 1, kWidest}, "of each convolution"},
      {"skip", Whole{std::mem_fn(&Layers::skip), 0, kWidest},
       "how many numbers of the observation go past these layers at most", nullptr, false},
      {"indices", Field<Layers>::Flag{std::mem_fn(&Layers::shared), "shared", "apart"},
       "whether all indices of a list share these layers, so that it may have any length", nullptr,
       false}};
  return fields;
}

std::optional<std::string> NetworkConfig::problem() const {
  if (place_of_core(*this) == core_names().size()) {
    return fmt::format("there is no core '{}'; there are {}", core, fmt::join(core_names(), ", "));
  }
  if (auto wrong = problem_of(network_fields(), *this)) return wrong;
  if (auto wrong = problem_of_layers(variable_layer_fields(), "variables", variable_layers,
                                     variable_embedding)) {
    return wrong;
  }
  return problem_of_layers(observation_layer_fields(), "observations", observation_layers,
                           observe_embedding);
}

}  // namespace psn
