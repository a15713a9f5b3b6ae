#include "apps/psn/options/preset_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/options/help.h"
#include "apps/psn/options/options.h"
#include "psn/base/error.h"
#include "psn/base/text.h"
#include "psn/nn/network_file.h"

namespace psn::app {
namespace {

constexpr const char* kGroup = "Recipe (defaults of --preset default)";

// The fields of layers, by name.
using Fields = std::vector<std::pair<std::string, std::size_t*>>;
Fields fields_of(VariableLayers& layers) {
  return {{"num_layers", &layers.num_layers}, {"hidden_dim", &layers.hidden_dim}};
}
Fields fields_of(ObservationLayers& layers) {
  return {{"num_layers", &layers.num_layers},
          {"hidden_dim", &layers.hidden_dim},
          {"convolution_layers", &layers.convolution_layers},
          {"channels", &layers.channels},
          {"skip", &layers.skip}};
}

// "num_layers=2".
template <class Layers>
void set_layer(Layers& layers, const std::string& key, const std::string& value,
               const std::string& option, const std::string& argument) {
  std::vector<std::string> keys;
  for (const auto& [name, field] : fields_of(layers)) {
    keys.push_back(name);
    if (name != key && with_hyphens(name) != name + "," + key) continue;
    if (CLI::detail::lexical_cast(value, *field)) return;
    throw InvalidArgument(fmt::format("{} '{}': '{}' is no count", option, argument, value));
  }
  throw InvalidArgument(fmt::format("{} '{}': layers have no '{}'{}; they have {}", option,
                                    argument, key, suggestion(key, keys), fmt::join(keys, ", ")));
}

// Splits at the last occurrence; the first part is empty if there is none.
std::pair<std::string, std::string> split(const std::string& text, char at) {
  const auto place = text.rfind(at);
  if (place == std::string::npos) return {"", text};
  return {text.substr(0, place), text.substr(place + 1)};
}

// On the command line surrogates learn tags unless told not to.
Preset recipe_of(const std::string& name, Purpose purpose) {
  Preset recipe = preset(name, purpose);
  recipe.network.tags = purpose == Purpose::kSurrogate;
  return recipe;
}

// For help, before the purpose is known.
template <class Text>
std::string shown_default(const Text& text) {
  Preset surrogate = recipe_of("default", Purpose::kSurrogate);
  Preset inference = recipe_of("default", Purpose::kInference);
  const std::string one = text(surrogate), other = text(inference);
  return one == other ? one : fmt::format("{} (inference: {})", one, other);
}

void expect_same(const NetworkConfig& given, const NetworkConfig& wanted) {
  if (given.core != wanted.core) {  // and so the names of its sizes
    throw InvalidArgument(
        fmt::format("--core {}: the network that is given has {}", wanted.core, given.core));
  }
  const auto now = nlohmann::json::parse(config_json(given));
  const auto then = nlohmann::json::parse(config_json(wanted));
  for (const auto& [name, value] : then.items()) {
    if (now.at(name) == value) continue;
    throw InvalidArgument(fmt::format("--{} {}: the network that is given has {}", name,
                                      value.dump(), now.at(name).dump()));
  }
}

}  // namespace

template <class Field, class Check>
void PresetOptions::add_number(CLI::App& command, const std::string& name, Field field,
                               const Check& check, const std::string& help) {
  CLI::Option* option = command.add_option(with_hyphens(name), field(given_), help)
                            ->check(check)
                            ->group(kGroup)
                            ->default_str(shown_default(
                                [&](Preset& recipe) { return fmt::format("{}", field(recipe)); }));
  apply_.push_back([this, option, field](Preset& chosen) {
    if (option->count() > 0) {
      field(chosen) = field(given_);
    } else {
      option->default_str(fmt::format("{}", field(chosen)));
    }
  });
}

template <class Field, class Choices>
void PresetOptions::add_choice(CLI::App& command, const std::string& name, Field field,
                               const Choices& choices, const std::string& help) {
  std::vector<std::string> names;
  for (const auto& [choice, value] : choices) names.emplace_back(choice);
  const auto text = std::make_shared<std::string>();
  const auto name_of = [&](Preset& recipe) {
    const auto found = std::find_if(choices.begin(), choices.end(), [&](const auto& choice) {
      return choice.second == field(recipe);
    });
    return std::string(found->first);
  };
  CLI::Option* option = command.add_option(with_hyphens(name), *text, help)
                            ->check(CLI::IsMember(names))
                            ->group(kGroup)
                            ->default_str(shown_default(name_of));
  apply_.push_back([option, text, field, choices](Preset& chosen) {
    for (const auto& [choice, value] : choices) {
      if (option->count() > 0 && *text == choice) field(chosen) = value;
      if (option->count() == 0 && field(chosen) == value) option->default_str(choice);
    }
  });
}

// Two options: layers in general, and those of one variable or observation.
template <class General, class Named>
void PresetOptions::add_layers(CLI::App& command, const std::string& general,
                               const std::string& general_help, const std::string& named,
                               const std::string& named_help, General general_field,
                               Named named_field) {
  const auto texts = std::make_shared<std::vector<std::string>>();
  const auto named_texts = std::make_shared<std::vector<std::string>>();
  command.add_option(with_hyphens(general), *texts, general_help)
      ->allow_extra_args(false)
      ->group(kGroup);
  command.add_option(with_hyphens(named), *named_texts, named_help)
      ->allow_extra_args(false)
      ->group(kGroup);
  apply_.push_back([=](Preset& chosen) {
    for (const std::string& argument : *texts) {
      const auto [key, value] = split(argument, '=');
      set_layer(general_field(chosen.network), key, value, general, argument);
    }
    for (const std::string& argument : *named_texts) {
      const auto [path, value] = split(argument, '=');
      const auto [name, key] = split(path, '.');
      if (name.empty()) {
        throw InvalidArgument(
            fmt::format("{} '{}': should be like theta.num_layers=2", named, argument));
      }
      auto& layers = named_field(chosen.network)
                         .try_emplace(name, general_field(chosen.network))
                         .first->second;
      set_layer(layers, key, value, named, argument);
    }
  });
}

void PresetOptions::add_to(CLI::App& command) {
  command.add_option("--preset", preset_, "default: our recipe; paper: the paper's")
      ->capture_default_str()
      ->check(CLI::IsMember({"default", "paper"}));
  const CLI::Range width(1, 65536);
  const auto number = [&](const std::string& name, auto field, const auto& check,
                          const std::string& help) {
    add_number(command, name, field, check, help);
  };
  number(
      "--traces", [](Preset & p) -> auto& { return p.training.traces; },
      CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40), "to train on");
  apply_.push_back([this](Preset& chosen) {
    if (preset_ == "paper") return;
    chosen.training.batch_size = default_batch_size(chosen.training.traces);
  });
  number(
      "--batch_size", [](Preset & p) -> auto& { return p.training.batch_size; },
      CLI::Range(1, 1 << 20), "traces in an update");
  number(
      "--memory", [](Preset & p) -> auto& { return p.training.memory_mb; }, CLI::Range(1, 1 << 30),
      "MB that a batch may take while its gradient is computed; a larger one is computed in parts");
  add_choice(
      command, "--loss", [](Preset & p) -> auto& { return p.training.loss; },
      std::array{std::pair("nll", Loss::kNegativeLogLikelihood),
                 std::pair("divergence", Loss::kDivergence)},
      "negative log likelihood of values drawn, or closed-form divergence from the "
      "simulator's distributions");
  number(
      "--learning_rate", [](Preset & p) -> auto& { return p.training.rate.learning_rate; },
      finite_between(1e-9, 10), "of Adam, at the start");
  add_choice(
      command, "--schedule", [](Preset & p) -> auto& { return p.training.rate.schedule; },
      std::array{std::pair("constant", Schedule::kConstant), std::pair("cosine", Schedule::kCosine),
                 std::pair("plateau", Schedule::kPlateau)},
      "of the learning rate");
  number(
      "--final_rate", [](Preset & p) -> auto& { return p.training.rate.final_rate; },
      finite_between(0, 1), "the smallest rate, as a fraction of the start");
  number(
      "--plateau_factor", [](Preset & p) -> auto& { return p.training.rate.plateau_factor; },
      finite_between(0.001, 0.999), "a plateau schedule multiplies the rate by this");
  number(
      "--plateau_patience", [](Preset & p) -> auto& { return p.training.rate.plateau_patience; },
      CLI::Range(1, 1 << 30), "after so many validations without a new best");
  number(
      "--clip_norm", [](Preset & p) -> auto& { return p.training.adam.clip_norm; },
      finite_between(0, 1e30), "largest norm of a gradient; 0: no limit");
  number(
      "--validate_every", [](Preset & p) -> auto& { return p.training.validate_every; },
      CLI::Range(0, 1 << 30),
      "batches from one validation to the next, and the result is the best of them; 0: only at "
      "the end");
  number(
      "--patience", [](Preset & p) -> auto& { return p.training.patience; }, CLI::Range(0, 1 << 30),
      "validations without a new best before training ends; 0: no end");
  add_choice(
      command, "--addressing", [](Preset & p) -> auto& { return p.network.addressing; },
      std::array{std::pair("instance", Addressing::kInstance), std::pair("site", Addressing::kSite),
                 std::pair("shared", Addressing::kShared)},
      "vocabulary: full addresses, those without instance, or without index too");
  add_choice(
      command, "--tags", [](Preset & p) -> auto& { return p.network.tags; },
      std::array{std::pair("learn", true), std::pair("ignore", false)},
      "surrogate: whether to learn tags and what the program returns, each as one more step");
  number(
      "--lstm_dim", [](Preset & p) -> auto& { return p.network.core_dim; }, width,
      "width of the core");
  number(
      "--lstm_depth", [](Preset & p) -> auto& { return p.network.core_depth; }, CLI::Range(1, 64),
      "layers of the core");
  number(
      "--sample_embedding_dim", [](Preset & p) -> auto& { return p.network.sample_embedding_dim; },
      width, "width of a value's embedding");
  number(
      "--address_embedding_dim",
      [](Preset & p) -> auto& { return p.network.address_embedding_dim; }, width,
      "width of an address's embedding");
  number(
      "--distribution_type_embedding_dim",
      [](Preset & p) -> auto& { return p.network.distribution_type_embedding_dim; }, width,
      "width of a distribution type's embedding");
  number(
      "--transition_hidden_dim",
      [](Preset & p) -> auto& { return p.network.transition_hidden_dim; }, width,
      "width of the layer before a transition");
  number(
      "--mixture_components", [](Preset & p) -> auto& { return p.network.mixture_components; },
      CLI::Range(1, 1024), "of proposals, and of the head of a Mixture");
  add_layers(
      command, "--variable_layers",
      "layers before a distribution's parameters: num_layers=2, hidden_dim=50",
      "--variable_embedding",
      "the same for one variable or site: theta.num_layers=2, theta.hidden_dim=50; in a --config "
      "file [variable_embedding.theta]",
      [](NetworkConfig & n) -> auto& { return n.variable_layers; },
      [](NetworkConfig & n) -> auto& { return n.variable_embedding; });
  add_layers(
      command, "--observation_layers",
      "inference: layers that embed an observation: num_layers=4, hidden_dim=10, for arrays of two "
      "or three dimensions convolution_layers=2, channels=8, and how many of its numbers go past "
      "these layers at most: skip=64 (in the paper 0)",
      "--observe_embedding", "the same for one observation: x.num_layers=4",
      [](NetworkConfig & n) -> auto& { return n.observation_layers; },
      [](NetworkConfig & n) -> auto& { return n.observe_embedding; });
  number(
      "--missing", [](Preset & p) -> auto& { return p.training.missing; }, finite_between(0, 0.99),
      "inference: share of traces from which an observation is withheld, so that the network "
      "learns to do without");
}

Preset PresetOptions::chosen(Purpose purpose, const NetworkConfig* given) {
  Preset chosen = recipe_of(preset_, purpose);
  if (given) chosen.network = *given;
  for (const auto& apply : apply_) apply(chosen);
  if (const auto problem = chosen.network.problem()) throw InvalidArgument(*problem);
  if (given) expect_same(*given, chosen.network);
  return chosen;
}

}  // namespace psn::app
