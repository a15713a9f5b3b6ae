// A surrogate's file in a model's place, and what becomes of its traces where it knows no further.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "psn/core/ensemble.h"

namespace psn::app {

struct SimulationOptions;

// --unknown, --simulator.
struct FallbackOptions {
  std::string unknown = "renormalise";
  std::string simulator;  // to go on in

  void add_to(CLI::App& command);
  // The model or surrogate; throws InvalidArgument if these options do not fit it.
  // `needs_simulator`: --simulator has another use besides.
  std::unique_ptr<Simulator> load(const SimulationOptions& options,
                                  bool needs_simulator = false) const;
};

// Counts from here on: pilot runs are no part of the result.
void forget_fallbacks(Simulator& simulator);
// For a surrogate that falls back: how many traces did, into the result and on stderr.
void report_fallbacks(Simulator& simulator, nlohmann::ordered_json& result, bool quiet);

}  // namespace psn::app
