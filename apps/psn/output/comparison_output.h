// A surrogate's comparison with its simulator, as psn compare prints and writes it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "psn/services/compare.h"

namespace psn::app {

nlohmann::ordered_json comparison_json(const services::ComparisonResult& result,
                                       const services::ComparisonJob& job);
void print_comparison(const services::ComparisonResult& result, const services::ComparisonJob& job);

}  // namespace psn::app
