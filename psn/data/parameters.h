// A distribution as a family with a list of parameters, and back.
#pragma once

#include <span>
#include <vector>

#include "psn/core/distribution.h"

namespace psn::data {

std::span<const Value> parameters_of(const Distribution& distribution);
std::span<const Distribution> components_of(const Distribution& distribution);  // of a mixture

std::size_t parameter_count(Family family);
// With as many parameters as the family has; components for a mixture only.
Distribution make_distribution(Family family, std::vector<Value> parameters,
                               std::vector<Distribution> components);

// Throws DataError for a distribution that no program may use, or not of so many components.
void require_valid(const Distribution& distribution, std::size_t size);

// Two components or more, all the same?
bool is_filled(const Value& value);

}  // namespace psn::data
