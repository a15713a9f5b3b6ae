// Values with gaps: a component that was not measured is NaN. Only an observation may have some.
// A distribution's components are independent, or hang together in a way that has marginals and
// conditionals in closed form, or it is a mixture of such: gaps are integrated out exactly, and
// filled by draws that have the right law.
#pragma once

#include "psn/core/distribution.h"

namespace psn {

enum class Gaps : std::uint8_t { kNone, kSome, kAll };
Gaps gaps(const Value& value);
std::size_t count_present(const Value& value);

// log density of the components that are there, the others integrated out; 0 if there are none.
// Throws ModelError if the shape differs.
double log_prob_of_present(const Distribution& distribution, const Value& value);

// The gaps filled by a draw given the components that are there.
Value fill_gaps(const Distribution& distribution, const Value& value, Rng& rng);

// Can no distribution of this type, whatever its parameters, yield such a number? Then in words
// what it yields: "Poisson yields whole numbers from 0". The bounds of Uniform, of TruncatedNormal
// and the upper one of Binomial are parameters: what lies outside is only unlikely, not a mistake.
std::optional<std::string> never_yields(const Distribution& distribution, const Value& value);

}  // namespace psn
