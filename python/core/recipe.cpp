#include "python/core/recipe.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "psn/base/error.h"
#include "psn/base/text.h"
#include "psn/nn/network_file.h"
#include "psn/services/kept_network.h"
#include "psn/services/recipe.h"
#include "psn/train/options.h"

namespace psn::python {
namespace {

using namespace py::literals;  // NOLINT(google-build-using-namespace)

template <class Config>
void set_field(const Field<Config>& field, Config& config, py::handle value) {
  using F = Field<Config>;
  bool known = true;
  try {
    if (const auto* whole = std::get_if<typename F::Whole>(&field.kind)) {
      whole->at(config) = value.cast<std::uint64_t>();
    } else if (const auto* real = std::get_if<typename F::Real>(&field.kind)) {
      real->at(config) = value.cast<double>();
    } else if (const auto* flag = std::get_if<typename F::Flag>(&field.kind);
               flag && py::isinstance<py::bool_>(value)) {
      flag->at(config) = value.cast<bool>();
    } else {
      known = field.set_word(config, value.cast<std::string>());
    }
  } catch (const py::cast_error&) {
    known = false;
  }
  if (!known) {
    throw InvalidArgument(fmt::format("`{}` is {}, not {}", field.name, field.limits(),
                                      py::repr(value).template cast<std::string>()));
  }
  if (const auto problem = field.problem(config))
    throw InvalidArgument("`" + field.name + "`: " + *problem);
}

// Of the field that is called so; false: there is none.
template <class Config>
bool set_if_known(const Fields<Config>& fields, Config& config, const std::string& name,
                  py::handle value) {
  for (const Field<Config>& field : fields) {
    if (field.name != name && (field.other_name.empty() || field.other_name != name)) continue;
    set_field(field, config, value);
    return true;
  }
  return false;
}

template <class Layers>
void set_layers(const Fields<Layers>& fields, Layers& layers, const std::string& name,
                py::handle values) {
  for (const auto& [key, value] : py::cast<py::dict>(values)) {
    const auto word = py::cast<std::string>(key);
    if (!set_if_known(fields, layers, word, value)) {
      throw InvalidArgument(fmt::format("`{}`: layers have no '{}'", name, word));
    }
  }
}

template <class Layers>
void set_named_layers(const Fields<Layers>& fields, const Layers& others,
                      std::map<std::string, Layers>& by_name, const std::string& name,
                      py::handle values) {
  for (const auto& [key, layers] : py::cast<py::dict>(values)) {
    Layers& own = by_name.try_emplace(py::cast<std::string>(key), others).first->second;
    set_layers(fields, own, name, layers);
  }
}

bool set_layers_if_known(NetworkConfig& network, const std::string& name, py::handle value) {
  if (name == "variable_layers") {
    set_layers(variable_layer_fields(), network.variable_layers, name, value);
  } else if (name == "observation_layers") {
    set_layers(observation_layer_fields(), network.observation_layers, name, value);
  } else if (name == "variable_embedding") {
    set_named_layers(variable_layer_fields(), network.variable_layers, network.variable_embedding,
                     name, value);
  } else if (name == "observe_embedding") {
    set_named_layers(observation_layer_fields(), network.observation_layers,
                     network.observe_embedding, name, value);
  } else {
    return false;
  }
  return true;
}

std::vector<std::string> setting_names() {
  std::vector<std::string> names{"variable_layers", "observation_layers", "variable_embedding",
                                 "observe_embedding"};
  for (const auto& field : training_fields()) names.push_back(field.name);
  for (const auto& field : network_fields()) {
    if (field.name != "purpose") names.push_back(field.name);
  }
  return names;
}

// A preset, with what is set by hand. General layers come before those of one variable.
Preset make_recipe(const std::string& preset_name, Purpose purpose, const py::dict& settings,
                   std::uint64_t stored, const std::shared_ptr<Network>& from) {
  Preset recipe = services::first_recipe(preset_name, purpose);
  if (from) recipe.network = from->config();
  if (stored > 0 && preset_name != "paper") plan_for_stored(recipe.training, stored);
  if (settings.contains("traces")) {
    set_if_known(training_fields(), recipe.training, "traces", settings["traces"]);
  }
  services::plan_for_amount(recipe, preset_name, stored);
  for (const bool named : {false, true}) {
    for (const auto& [key, value] : settings) {
      const auto name = py::cast<std::string>(key);
      if (name == "traces" || name.ends_with("_embedding") != named) continue;
      if (name == "purpose" || (!set_layers_if_known(recipe.network, name, value) &&
                                !set_if_known(training_fields(), recipe.training, name, value) &&
                                !set_if_known(network_fields(), recipe.network, name, value))) {
        throw InvalidArgument(
            fmt::format("there is no setting '{}'{}", name, suggestion(name, setting_names())));
      }
    }
  }
  if (const auto problem = recipe.network.problem()) throw InvalidArgument(*problem);
  if (from && config_json(from->config()) != config_json(recipe.network)) {
    throw InvalidArgument("`start`: the network that is given has other settings than asked for");
  }
  return recipe;
}

}  // namespace

void bind_recipes(py::module_& module) {
  py::enum_<Purpose>(module, "Purpose")
      .value("surrogate", Purpose::kSurrogate)
      .value("inference", Purpose::kInference);
  py::class_<Preset>(module, "Recipe")
      .def(py::init(&make_recipe), "preset"_a, "purpose"_a, "settings"_a, "stored"_a, "start"_a)
      .def("set_times",
           [](Preset& recipe, double seconds, double checkpoint_every) {
             recipe.training.seconds = seconds;
             recipe.training.checkpoint_every = checkpoint_every;
           })
      .def("set_seed",
           [](Preset& recipe, std::uint64_t seed, std::uint64_t validation) {
             recipe.training.seed = seed;
             recipe.training.validation_traces = validation;
           })
      .def_property_readonly("traces", [](const Preset& recipe) { return recipe.training.traces; })
      .def("config", [](const Preset& recipe, const std::string& data) {
        return services::plan_config({.recipe = recipe, .data = data, .train = {}, .measure = {}});
      });
  module.attr("settings") = py::cast(setting_names());
}

}  // namespace psn::python
