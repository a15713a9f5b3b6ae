// What an attached program draws, found by running it a few times, and the settings to begin with.
// Blocking; in one process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "psn/services/host.h"
#include "psn/services/simulators.h"

namespace psn::services {

struct LearnJob : SimulatorSettings {
  std::string command;
  std::uint64_t runs = 5;
  std::uint64_t seed = 0;
  int depth = 4;  // frames of the stack that tell sites apart
};

struct AttachedSite {
  std::string address;     // as [site.NAME] has it
  std::string type;        // "Normal"
  std::string place;       // "main at sim.c:12", of the innermost call; "" if nothing tells
  std::uint64_t runs = 0;  // that came there
  std::uint64_t most = 0;  // times in a run
};

struct LearnResult {
  std::uint64_t runs = 0;
  std::string started_anew;         // see RunReport
  std::vector<AttachedSite> sites;  // in order of first appearance
  std::string printed;              // on stdout, by the first run that ended
  std::vector<std::string> files;   // that it wrote
  Failures failures;
};

// Throws as open_simulator() does.
LearnResult learn_attached(const LearnJob& job, Host& host);

// A file for `attach` to edit.
std::string settings_text(const LearnJob& job, const LearnResult& learned);

}  // namespace psn::services
