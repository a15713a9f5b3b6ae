// Answers of long runs, kept as numbers: references/kept has the files, each with the command that
// makes it.
#pragma once

#include <span>
#include <string_view>

#include "experiments/zoo/zoo.h"

namespace psn::zoo::references {

struct Kept {
  std::string_view name;  // of what is judged; or "log evidence", last
  double mean, sd, error;
};

inline Answer answer_of(std::span<const Kept> kept) {
  Answer result;
  for (const Kept& k : kept) {
    if (k.name == "log evidence") {
      result.log_evidence = k.mean;
      continue;
    }
    result.mean.push_back(k.mean);
    result.sd.push_back(k.sd);
    result.error.push_back(k.error);
  }
  return result;
}

}  // namespace psn::zoo::references
