// A surrogate's comparison with its simulator, as psn compare prints it.
#pragma once

#include "psn/services/compare.h"

namespace psn::app {

void print_comparison(const services::ComparisonResult& result, const services::ComparisonJob& job);

}  // namespace psn::app
