// Options that commands share.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "psn/services/simulators.h"

namespace psn::app {

// --json, --quiet, --seed, --config: every command has them.
struct CommonOptions {
  bool json = false;
  bool quiet = false;
  std::uint64_t seed = 0;
  std::string config;

  void add_to(CLI::App& command);
};

// How to run simulations, and --out.
struct SimulationArguments : services::SimulationOptions {
  std::string out;    // directory for results
  bool open = false;  // its report in a browser

  void add_to(CLI::App& command, const std::string& count_help);
};

// --open, of commands that leave a report.
void add_open(CLI::App& command, bool& open);
// --stack-size, of simulations in this process.
void add_stack_size(CLI::App& command, std::size_t& kib);

// The command line with the keys of `--config FILE` put in as options after the command's name; an
// option given by hand replaces the file's.
std::vector<std::string> with_config_file(const CLI::App& program,
                                          std::vector<std::string> arguments);

// All options of a command with their values, as TOML that --config understands.
std::string effective_config(const CLI::App& command);

// A number within bounds; CLI11's own Range lets NaN pass.
CLI::Validator finite_between(double low, double high);
// --tolerance of a verdict.
void add_tolerance(CLI::App& command, double& tolerance);

}  // namespace psn::app
