// A model as a simulator for any engine that speaks PPX, and keys for encrypted connections.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "psn/ppx/server.h"
#include "psn/services/host.h"

namespace psn::services {

struct ServiceJob {
  std::string model;
  std::string endpoint = ppx::kDefaultEndpoint;
  std::size_t stack_kib = 0;             // of each run in this process; 0: what the model asks for
  std::string attach;                    // file about an attached program; may be empty
  bool withhold_data = false;            // the program's own, for an engine that learns from runs
  std::string curve_keys;                // file with our own keys; empty: no encryption
  std::vector<std::string> curve_allow;  // files with keys of engines that may connect; none: all
  std::uint64_t seed = 0;
  // Told, once it serves, the model's own name and where.
  std::function<void(const std::string& model, const std::string& endpoint)> ready;
  std::function<void(const std::string& line)> log;  // told of runs that failed
};

// Until the host says stop.
void serve(const ServiceJob& job, Host& host);

// Both keys at `path`, the public one at path.pub as well; readable by their owner alone.
void make_keys(const std::string& path);

}  // namespace psn::services
