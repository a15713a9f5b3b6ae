#include "apps/psn/options/preset_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/options/help.h"
#include "apps/psn/options/options.h"
#include "psn/base/error.h"
#include "psn/base/text.h"
#include "psn/nn/network_file.h"
#include "psn/services/recipe.h"

namespace psn::app {
namespace {

constexpr const char* kGroup = "Recipe (defaults of --preset default)";

// "num_layers=2".
template <class Layers>
void set_layer(const Fields<Layers>& fields, Layers& layers, const std::string& key,
               const std::string& value, const std::string& option, const std::string& argument) {
  std::vector<std::string> keys;
  for (const Field<Layers>& field : fields) {
    keys.push_back(field.name);
    if (field.name != key && with_hyphens(field.name) != field.name + "," + key) continue;
    const auto* whole = std::get_if<typename Field<Layers>::Whole>(&field.kind);
    if (whole ? CLI::detail::lexical_cast(value, whole->at(layers))
              : field.set_word(layers, value)) {
      return;
    }
    throw InvalidArgument(fmt::format("{} '{}': '{}' is {}", option, argument, value,
                                      whole ? "no count" : "none of " + field.limits()));
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

// For help, before the purpose is known.
template <class Text>
std::string shown_default(const Text& text) {
  Preset surrogate = services::first_recipe("default", Purpose::kSurrogate);
  Preset inference = services::first_recipe("default", Purpose::kInference);
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

// One option for a field of the table; `part` of the recipe has it.
template <class Config>
void PresetOptions::add_field(CLI::App& command, Config Preset::*part, const Field<Config>& field) {
  using F = Field<Config>;
  const auto text = [part, &field](Preset& recipe) { return field.text(recipe.*part); };
  std::string name = with_hyphens("--" + field.name);
  if (!field.other_name.empty()) name += "," + with_hyphens("--" + field.other_name);
  const auto shown = [&](CLI::Option* option) {
    return option->group(kGroup)->default_str(shown_default(text));
  };
  // Sets it by what was given, or shows what the preset has.
  const auto apply = [&](CLI::Option* option, auto set) {
    apply_.push_back([=](Preset& chosen) {
      option->count() > 0 ? set(chosen.*part) : (void)option->default_str(text(chosen));
    });
  };
  const auto add_number = [&](const auto& number, const CLI::Validator& check) {
    auto& given = number.at(given_.*part);
    CLI::Option* option = shown(command.add_option(name, given, field.help)->check(check));
    apply(option, [&given, at = number.at](Config& config) { at(config) = given; });
  };
  if (const auto* whole = std::get_if<typename F::Whole>(&field.kind)) {
    add_number(*whole, CLI::Range(whole->low, whole->high));
  } else if (const auto* real = std::get_if<typename F::Real>(&field.kind)) {
    add_number(*real, finite_between(real->low, real->high));
  } else {
    const auto given = std::make_shared<std::string>();
    CLI::Option* option =
        shown(command.add_option(name, *given, field.help)->check(CLI::IsMember(field.words())));
    apply(option, [given, &field](Config& config) { field.set_word(config, *given); });
  }
}

// Two options: layers in general, and those of one variable or observation.
template <class Layers>
void PresetOptions::add_layers(CLI::App& command, const Fields<Layers>& fields,
                               const LayerOptions<Layers>& names) {
  const auto texts = std::make_shared<std::vector<std::string>>();
  const auto named_texts = std::make_shared<std::vector<std::string>>();
  command.add_option(with_hyphens(names.general), *texts, names.general_help)
      ->allow_extra_args(false)
      ->group(kGroup);
  command.add_option(with_hyphens(names.named), *named_texts, names.named_help)
      ->allow_extra_args(false)
      ->group(kGroup);
  apply_.push_back([names, texts, named_texts, &fields](Preset& chosen) {
    Layers& others = chosen.network.*names.others;
    for (const std::string& argument : *texts) {
      const auto [key, value] = split(argument, '=');
      set_layer(fields, others, key, value, names.general, argument);
    }
    for (const std::string& argument : *named_texts) {
      const auto [path, value] = split(argument, '=');
      const auto [name, key] = split(path, '.');
      if (name.empty()) {
        throw InvalidArgument(
            fmt::format("{} '{}': should be like theta.num_layers=2", names.named, argument));
      }
      Layers& layers = (chosen.network.*names.by_name).try_emplace(name, others).first->second;
      set_layer(fields, layers, key, value, names.named, argument);
    }
  });
}

void PresetOptions::add_to(CLI::App& command) {
  command.add_option("--preset", preset_, "default: our recipe; paper: the paper's")
      ->capture_default_str()
      ->check(CLI::IsMember({"default", "paper"}));
  for (const auto& field : training_fields()) {
    if (field.name == "traces") {
      apply_.push_back([this](Preset& chosen) {
        if (preset_ != "paper" && stored_ > 0) plan_for_stored(chosen.training, stored_);
      });
    }
    add_field(command, &Preset::training, field);
    if (field.name == "traces") {
      apply_.push_back(
          [this](Preset& chosen) { services::plan_for_amount(chosen, preset_, stored_); });
    }
  }
  for (const auto& field : network_fields()) {
    if (field.name != "purpose") add_field(command, &Preset::network, field);  // a command's own
  }
  add_layers(command, variable_layer_fields(),
             {"--variable_layers",
              "layers before a distribution's parameters: num_layers=2, hidden_dim=50",
              &NetworkConfig::variable_layers, "--variable_embedding",
              "the same for one variable or site: theta.num_layers=2, theta.hidden_dim=50; in a "
              "--config file [variable_embedding.theta]",
              &NetworkConfig::variable_embedding});
  add_layers(command, observation_layer_fields(),
             {"--observation_layers",
              "inference: layers that embed an observation: num_layers=2, hidden_dim=64 (in the "
              "paper 4 and 10), for "
              "arrays of two or three dimensions convolution_layers=2, channels=8, and how many of "
              "its numbers go past these layers at most: skip=64 (in the paper 0)",
              &NetworkConfig::observation_layers, "--observe_embedding",
              "the same for one observation: x.num_layers=2", &NetworkConfig::observe_embedding});
}

Preset PresetOptions::chosen(Purpose purpose, const NetworkConfig* given, std::uint64_t stored) {
  stored_ = stored;
  Preset chosen = services::first_recipe(preset_, purpose);
  if (given) chosen.network = *given;
  for (const auto& apply : apply_) apply(chosen);
  if (const auto problem = chosen.network.problem()) throw InvalidArgument(*problem);
  if (given) expect_same(*given, chosen.network);
  return chosen;
}

}  // namespace psn::app
