// How this psn was built, and with what. Any thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace psn::services {

struct BuildFacts {
  std::string version;     // of psn
  std::string commit;      // of its sources; empty: not known
  std::string compiler;    // its name and version
  std::string build_type;  // of CMake; with the sanitizers
  // For which there is code, and which this processor has; the best is used.
  std::vector<std::string> vector_extensions;
  std::vector<std::pair<std::string, std::string>> libraries;  // name, version
};

BuildFacts build_facts();

}  // namespace psn::services
