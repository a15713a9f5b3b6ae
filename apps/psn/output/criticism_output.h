// A criticism as JSON (docs/formats/evidence.md), and for people.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "psn/services/criticise.h"

namespace psn::app {

nlohmann::ordered_json criticism_json(const services::CriticismResult& result,
                                      const services::CriticismJob& job);
void print_criticism(const services::CriticismResult& result, const services::CriticismJob& job);

}  // namespace psn::app
