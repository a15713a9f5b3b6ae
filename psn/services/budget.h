// How much training fits into a time: the one thing that a newcomer can be asked for.
#pragma once

#include <cstdint>
#include <optional>

#include "psn/services/train.h"

namespace psn::services {

struct TrainingAmount {
  std::uint64_t traces = 0;      // to learn from
  std::uint64_t validation = 0;  // to hold out
};

// As much of this job, which learns from a model, as takes about `seconds` on this machine,
// measured by a part of it that is thrown away. Throws InvalidArgument if that is too little
// to learn anything, and what training throws.
TrainingAmount amount_within(const TrainingJob& job, double seconds, Host& host);

// What an unfinished training towards that file was begun with; nullopt: there is none. It must go
// on with the same, for its rates follow from it.
std::optional<TrainingAmount> amount_begun(const std::string& out);

}  // namespace psn::services
