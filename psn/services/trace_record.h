// Traces as they are shown and kept: independent of their simulator.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "psn/core/trace.h"

namespace psn::services {

// One trace, independent of its simulator.
struct TraceRecord {
  struct Step {
    Role role = Role::kSample;
    std::string address, name;
    Value value;
    std::string distribution;  // in words; empty: none, or not asked for
    bool given = false;        // held or observed, not drawn
  };
  double log_joint = 0;
  std::vector<Step> steps;
};

TraceRecord record_of(const Trace& trace);

// As a folder of results keeps some (traces.json): JSON for the explorer of reports.
inline constexpr const char* kTracesFile = "traces.json";
inline constexpr std::size_t kTracesKept = 20;
std::string traces_json(const std::vector<std::pair<std::string, std::vector<TraceRecord>>>& sides);

}  // namespace psn::services
