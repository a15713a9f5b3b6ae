// What of a training recipe can be set by hand; the rest comes from the preset.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "psn/train/trainer.h"

namespace psn::app {

// Must stay where it is once added to a command.
class PresetOptions {
 public:
  void add_to(CLI::App& command);
  // The preset with what was set by hand. From then on the command's other options have the
  // preset's values as defaults, so that the effective configuration shows them. `given`: of a
  // network that is there already. Throws InvalidArgument for what a layer does not have, and for
  // what is set by hand but is otherwise in the given network.
  // `stored`: so many traces are learned from that are there already; 0: they are made meanwhile.
  Preset chosen(Purpose purpose, const NetworkConfig* given, std::uint64_t stored);

 private:
  template <class Config>
  void add_field(CLI::App& command, Config Preset::*part, const Field<Config>& field);
  // Two options: layers in general, and those of one variable or observation.
  template <class Layers>
  struct LayerOptions {
    std::string general, general_help;
    Layers NetworkConfig::*others;
    std::string named, named_help;
    std::map<std::string, Layers> NetworkConfig::*by_name;
  };
  template <class Layers>
  void add_layers(CLI::App& command, const Fields<Layers>& fields,
                  const LayerOptions<Layers>& names);

  std::string preset_ = "default";
  Preset given_;  // values set by hand
  std::uint64_t stored_ = 0;
  std::vector<std::function<void(Preset&)>> apply_;
};

}  // namespace psn::app
