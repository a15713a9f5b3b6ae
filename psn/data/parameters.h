// What a store asks of distributions and their parameters.
#pragma once

#include "psn/core/distribution.h"

namespace psn::data {

// Throws DataError for a distribution that no program may use, or not of so many components.
void require_valid(const Distribution& distribution, std::size_t size);

// Two components or more, all the same?
bool is_filled(const Value& value);

}  // namespace psn::data
