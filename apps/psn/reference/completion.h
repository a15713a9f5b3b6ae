// What a shell needs to complete psn's command lines, made from its commands.
#pragma once

#include <string>
#include <vector>

#include "apps/psn/reference/command_tree.h"

namespace psn::app {

// `models`: names that a model may have without being a file.
std::string bash_completion(const CommandEntry& program, const std::vector<std::string>& models);
std::string zsh_completion(const CommandEntry& program, const std::vector<std::string>& models);
std::string fish_completion(const CommandEntry& program, const std::vector<std::string>& models);

}  // namespace psn::app
