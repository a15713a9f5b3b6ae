// Man pages, made from the commands.
#pragma once

#include <string>

#include "apps/psn/reference/command_tree.h"

namespace psn::app {

// "psn-data-generate", without the section.
std::string man_name(const CommandEntry& command);
// roff; `footer`: what follows the options of psn itself, as its help has it.
std::string man_page(const CommandEntry& command, const std::string& version,
                     const std::string& footer);

}  // namespace psn::app
