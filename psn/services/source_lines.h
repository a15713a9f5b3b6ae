// Where code was compiled from, as debug information tells.
#pragma once

#include <map>
#include <string>

namespace psn::services {

// Of the first call in an address of an attached program, "sim+0x11c9<sim+0x1270": "main at
// sim.c:12". "" if nothing tells. `modules`: files by their names.
std::string source_line(const std::string& address,
                        const std::map<std::string, std::string>& modules);

}  // namespace psn::services
