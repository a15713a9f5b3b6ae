// Options for a surrogate's file in a model's place.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "psn/services/simulators.h"

namespace psn::app {

// --unknown, --simulator.
struct SurrogateArguments {
  std::string unknown = "renormalise";
  std::string simulator;

  void add_to(CLI::App& command);
  services::SurrogateUse use() const;
};

}  // namespace psn::app
