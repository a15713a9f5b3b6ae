// The commands of psn and what they take, as plain data: what completion and man pages are made of.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace psn::app {

struct OptionEntry {
  std::vector<std::string> names;     // "-n", "--samples"; a positional has one, without dashes
  std::string value;                  // "TEXT"; empty: a flag
  std::vector<std::string> choices;   // all that it can be; empty: anything
  std::string description, standard;  // standard: the value if it is not given
  bool positional = false, required = false, many = false;
};

struct CommandEntry {
  std::string path;  // "data generate"; empty: psn itself
  std::string name, description;
  std::vector<OptionEntry> options;
  std::vector<CommandEntry> commands;
};

CommandEntry command_tree(const CLI::App& program);

// The command and all that are below it, each before its own.
std::vector<const CommandEntry*> all_commands(const CommandEntry& top);

}  // namespace psn::app
