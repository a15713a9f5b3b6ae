// What this machine offers, and what psn finds on it.
#pragma once

#include <string>
#include <vector>

namespace psn::services {

struct Machine {
  std::string cpu;
  std::vector<std::string> features;  // of the processor, as far as psn uses them
  unsigned cores = 0;
  double memory_gib = 0;
  std::string onednn, mpi;  // versions of libraries; empty: not there
};

// Loads the libraries that it looks for, so that they stay in the process.
Machine examine_machine();

}  // namespace psn::services
