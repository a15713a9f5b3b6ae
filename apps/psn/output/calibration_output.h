// A calibration, for people.
#pragma once

#include "psn/services/calibrate.h"

namespace psn::app {

void print_calibration(const services::CalibrationResult& result,
                       const services::CalibrationJob& job);

}  // namespace psn::app
