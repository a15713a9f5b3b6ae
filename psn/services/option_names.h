// Fields of options in the words of the command line: `min_count` is --min-count. Files of results
// speak so, whoever writes them. Any thread.
#pragma once

#include <string>
#include <vector>

namespace psn::services {

// A message with each field that it names, as `field`, the way it is written on the command line.
std::string with_option_names(const std::string& message);
std::vector<std::string> with_option_names(std::vector<std::string> messages);

}  // namespace psn::services
