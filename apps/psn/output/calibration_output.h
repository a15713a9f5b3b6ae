// A calibration as JSON (docs/formats/evidence.md), and for people.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "psn/services/calibrate.h"

namespace psn::app {

nlohmann::ordered_json calibration_json(const services::CalibrationResult& result,
                                        const services::CalibrationJob& job);
void print_calibration(const services::CalibrationResult& result,
                       const services::CalibrationJob& job);

}  // namespace psn::app
