// Options that commands share.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "psn/core/run.h"

namespace psn::app {

// --json, --quiet, --seed, --config: every command has them.
struct CommonOptions {
  bool json = false;
  bool quiet = false;
  std::uint64_t seed = 0;
  std::string config;

  void add_to(CLI::App& command);
};

// How to run simulations.
struct SimulationOptions {
  std::string model;
  std::uint64_t count = 10'000;
  Parallelism parallelism;
  std::size_t max_length = 1'000'000;
  std::size_t stack_kib = 0;    // 0: what the model asks for
  double time_limit = 3600;     // seconds between two choices of a simulation
  std::string out;              // directory for results

  void add_to(CLI::App& command, const std::string& count_help);
};

// The command line with the keys of `--config FILE` put in as options right after the command's
// name, so that flags given by hand, which come later, override them.
std::vector<std::string> with_config_file(std::vector<std::string> arguments);

// Creates DIR and writes the effective configuration there as config.toml.
void prepare_output(const std::string& directory, const CLI::App& command);

}  // namespace psn::app
