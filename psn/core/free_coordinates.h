// Free coordinates: where the components of a value hang together, real numbers that do not, as
// many as it has degrees of freedom, and each with about mean 0 and variance 1 under the
// distribution itself. A random walk and the mixtures of an inference network go by them, so that
// whatever they come to is a value.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "psn/core/distribution.h"

namespace psn {

struct FreeCoordinates {
  std::vector<double> u;
  double log_volume = 0;  // log |du/dx|: a density over x is that over u times this volume
};

// Nullopt for a distribution whose components are free by themselves.
std::optional<FreeCoordinates> free_coordinates(const Distribution& distribution, const Value& x);
// The value at these coordinates, for a distribution that has such.
Value value_at(const Distribution& distribution, std::span<const double> u);

// How many coordinates a value of the family has, if so many components; nullopt as above.
std::optional<std::size_t> degrees_of_freedom(Family family, std::size_t components);

}  // namespace psn
