// Traces as they are shown and kept: independent of their simulator.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "psn/core/trace.h"
#include "psn/nn/run/executor.h"

namespace psn::services {

// One trace, independent of its simulator.
struct TraceRecord {
  struct Step {
    Role role = Role::kSample;
    std::string address, name;
    Value value;
    std::string distribution;  // in words; empty: none, or not asked for
    bool given = false;        // held or observed, not drawn
    // Of coming there from the choice before; nullopt: the program does not draw where it goes.
    std::optional<double> transition;
  };
  double log_joint = 0;
  std::vector<Step> steps;
};

TraceRecord record_of(const Trace& trace);
// The same traces as a surrogate sees them: at each choice what it would have drawn it from, and
// log s of the whole. Those that leave what it knows have no distributions, and -inf.
std::vector<TraceRecord> records_under(std::shared_ptr<const CompiledNetwork> surrogate,
                                       std::span<const Trace> traces);

// As a folder of results keeps some (traces.json): JSON for the explorer of reports.
inline constexpr const char* kTracesFile = "traces.json";
inline constexpr std::size_t kTracesKept = 20;
std::string traces_json(const std::vector<std::pair<std::string, std::vector<TraceRecord>>>& sides);

}  // namespace psn::services
