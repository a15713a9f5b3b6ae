// Names as people write them.
#pragma once

#include <string>
#include <vector>

namespace psn::services {

// Names or addresses with commas between them: splits at commas, but for those within brackets, as
// addresses have them.
std::vector<std::string> split_names(const std::string& text);

}  // namespace psn::services
