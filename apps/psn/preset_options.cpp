#include "apps/psn/preset_options.h"

#include <fmt/format.h>

#include <array>
#include <memory>

#include "apps/psn/options.h"
#include "psn/base/error.h"
#include "psn/base/text.h"

namespace psn::app {
namespace {

constexpr const char* kGroup = "Recipe (by default the preset's)";

// "num_layers=2", for the variable of that name or for all.
void set_layer(VariableLayers& layers, const std::string& key, const std::string& value,
               const std::string& option, const std::string& argument) {
  const std::array<std::string, 2> keys{"num_layers", "hidden_dim"};
  std::size_t number = 0;
  if (key != keys[0] && key != keys[1]) {
    throw InvalidArgument(
        fmt::format("{} '{}': layers have no '{}'{}; they have num_layers and "
                    "hidden_dim",
                    option, argument, key, suggestion(key, keys)));
  }
  if (!CLI::detail::lexical_cast(value, number)) {
    throw InvalidArgument(fmt::format("{} '{}': '{}' is no count", option, argument, value));
  }
  (key == keys[0] ? layers.num_layers : layers.hidden_dim) = number;
}

// Splits at the last occurrence; the first part is empty if there is none.
std::pair<std::string, std::string> split(const std::string& text, char at) {
  const auto place = text.rfind(at);
  if (place == std::string::npos) return {"", text};
  return {text.substr(0, place), text.substr(place + 1)};
}

}  // namespace

template <class Field, class Check>
void PresetOptions::add_number(CLI::App& command, const std::string& name, Field field,
                               const Check& check, const std::string& help) {
  CLI::Option* option = command.add_option(name, field(given_), help)->check(check)->group(kGroup);
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
  CLI::Option* option =
      command.add_option(name, *text, help)->check(CLI::IsMember(names))->group(kGroup);
  apply_.push_back([option, text, field, choices](Preset& chosen) {
    for (const auto& [choice, value] : choices) {
      if (option->count() > 0 && *text == choice) field(chosen) = value;
      if (option->count() == 0 && field(chosen) == value) option->default_str(choice);
    }
  });
}

void PresetOptions::add_layers(CLI::App& command) {
  command
      .add_option("--variable_layers", default_layers_,
                  "layers before a distribution's parameters: num_layers=2, hidden_dim=50")
      ->allow_extra_args(false)
      ->group(kGroup);
  command
      .add_option(
          "--variable_embedding", named_layers_,
          "the same for one variable or site: theta.num_layers=2, theta.hidden_dim=50; in a "
          "--config file [variable_embedding.theta]")
      ->allow_extra_args(false)
      ->group(kGroup);
  apply_.push_back([this](Preset& chosen) {
    for (const std::string& argument : default_layers_) {
      const auto [key, value] = split(argument, '=');
      set_layer(chosen.network.variable_layers, key, value, "--variable_layers", argument);
    }
    for (const std::string& argument : named_layers_) {
      const auto [path, value] = split(argument, '=');
      const auto [name, key] = split(path, '.');
      if (name.empty()) {
        throw InvalidArgument(
            fmt::format("--variable_embedding '{}': should be like theta.num_layers=2", argument));
      }
      VariableLayers& layers =
          chosen.network.variable_embedding.try_emplace(name, chosen.network.variable_layers)
              .first->second;
      set_layer(layers, key, value, "--variable_embedding", argument);
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
  number(
      "--batch_size,--batch-size", [](Preset & p) -> auto& { return p.training.batch_size; },
      CLI::Range(1, 1 << 20), "traces in an update");
  add_choice(
      command, "--loss", [](Preset & p) -> auto& { return p.training.loss; },
      std::array{std::pair("nll", Loss::kNegativeLogLikelihood),
                 std::pair("divergence", Loss::kDivergence)},
      "negative log likelihood of values drawn, or closed-form divergence from the "
      "simulator's distributions");
  number(
      "--learning_rate,--learning-rate",
      [](Preset & p) -> auto& { return p.training.learning_rate; }, finite_between(1e-9, 10),
      "of Adam, at the start");
  add_choice(
      command, "--schedule", [](Preset & p) -> auto& { return p.training.schedule; },
      std::array{std::pair("constant", Schedule::kConstant),
                 std::pair("cosine", Schedule::kCosine)},
      "of the learning rate");
  number(
      "--final_rate,--final-rate", [](Preset & p) -> auto& { return p.training.final_rate; },
      finite_between(0, 1), "where a cosine schedule ends, as a fraction of the start");
  number(
      "--clip_norm,--clip-norm", [](Preset & p) -> auto& { return p.training.adam.clip_norm; },
      finite_between(0, 1e30), "largest norm of a gradient; 0: no limit");
  number(
      "--validate_every,--validate-every",
      [](Preset & p) -> auto& { return p.training.validate_every; }, CLI::Range(0, 1 << 30),
      "batches from one validation to the next; 0: only at the end");
  add_choice(
      command, "--addressing", [](Preset & p) -> auto& { return p.network.addressing; },
      std::array{std::pair("instance", Addressing::kInstance),
                 std::pair("site", Addressing::kSite)},
      "vocabulary: full addresses, or sites");
  number(
      "--lstm_dim", [](Preset & p) -> auto& { return p.network.lstm_dim; }, width,
      "width of the core");
  number(
      "--lstm_depth", [](Preset & p) -> auto& { return p.network.lstm_depth; }, CLI::Range(1, 64),
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
      CLI::Range(1, 1024), "of the head of a Mixture");
  add_layers(command);
}

Preset PresetOptions::chosen(Purpose purpose) {
  Preset chosen = preset(preset_, purpose);
  for (const auto& apply : apply_) apply(chosen);
  if (const auto problem = chosen.network.problem()) throw InvalidArgument(*problem);
  return chosen;
}

}  // namespace psn::app
