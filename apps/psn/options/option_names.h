// Options in the words of libraries, which know fields only: `min_count` is --min-count.
#pragma once

#include <string>
#include <vector>

namespace psn::app {

// A message with each field that it names, as `field`, the way it is written on the command line.
std::string with_option_names(const std::string& message);
std::vector<std::string> with_option_names(std::vector<std::string> messages);

}  // namespace psn::app
