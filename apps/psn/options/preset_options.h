// What of a training recipe can be set by hand; the rest comes from the preset.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <utility>
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
  Preset chosen(Purpose purpose = Purpose::kSurrogate, const NetworkConfig* given = nullptr);

 private:
  template <class Field, class Check>
  void add_number(CLI::App& command, const std::string& name, Field field, const Check& check,
                  const std::string& help);
  template <class Field, class Choices>
  void add_choice(CLI::App& command, const std::string& name, Field field, const Choices& choices,
                  const std::string& help);
  template <class General, class Named>
  void add_layers(CLI::App& command, const std::string& general, const std::string& general_help,
                  const std::string& named, const std::string& named_help, General general_field,
                  Named named_field);

  std::string preset_ = "default";
  Preset given_;  // values set by hand
  std::vector<std::function<void(Preset&)>> apply_;
};

}  // namespace psn::app
