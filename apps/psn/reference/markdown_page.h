// Pages of the reference on the site, made from the commands.
#pragma once

#include <string>

#include "apps/psn/reference/command_tree.h"

namespace psn::app {

// `footer`: what follows the options of psn itself, as its help has it. Links are to pages in the
// same folder, by man_name().
std::string markdown_page(const CommandEntry& command, const std::string& footer);

}  // namespace psn::app
