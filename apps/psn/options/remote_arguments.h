// Options for simulators in other processes, and what to say of simulators' failures.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "psn/core/ensemble.h"
#include "psn/ppx/remote.h"

namespace psn::app {

struct RemoteArguments {
  std::size_t workers = 1;
  double max_failures = 0.01;  // of the runs
  std::optional<double> start_limit;
  double run_limit = 0;
  std::string curve_server, curve_keys;

  void add_to(CLI::App& command);
  // For so many runs and so many seconds from one message to the next.
  ppx::RemoteOptions options(std::uint64_t runs, double message_limit) const;
};

// Keys in files: one for a public key, two (public, secret) for a pair. Throws DataError.
std::vector<std::string> read_keys(const std::string& path, std::size_t count);

// Runs that failed, into the result and on stderr; `earlier`: before the work was interrupted.
void report_failures(const Simulator& simulator, nlohmann::ordered_json& result, bool quiet,
                     const Failures& earlier = {});

}  // namespace psn::app
