// psn --version.
#pragma once

#include <string>

namespace psn::app {

// The version on the first line; below it how this psn was built, and with what.
std::string version_text();

}  // namespace psn::app
