// Lengths of time as options: 90, 90s, 30m or 4h.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace psn::app {

CLI::Validator duration();
// Throws InvalidArgument for what is none.
double seconds_of(const std::string& duration);

}  // namespace psn::app
