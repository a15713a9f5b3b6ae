// What a result should not be taken for: every warning in it, why it stands there, and what to do.
// Blocking; any thread.
#pragma once

#include <string>
#include <vector>

namespace psn::services {

// Fields of options stand in backquotes, as `traces`.
struct Finding {
  std::string warning, reason, remedy;
};

struct Diagnosis {
  std::string result;  // its folder or file
  std::string kind;    // "inference", "prediction", "simulation", "training", "validation", ...
  std::vector<Finding> findings;
};

// Of a folder with a summary (psn infer, predict, simulate, validate, calibrate, criticise --out;
// psn train --log), or of a network's file. Throws DataError for what is none.
Diagnosis diagnose(const std::string& result);

// A warning of psn/services/warnings.h with its reason and remedy, at more length than it has
// itself.
Finding explained(const std::string& warning);

}  // namespace psn::services
