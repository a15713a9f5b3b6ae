#include "apps/psn/reference/command_tree.h"

#include <sstream>

#include "apps/psn/options/help.h"

namespace psn::app {
namespace {

// CLI11 shows what is allowed behind the type: "TEXT:{is,ic}"; other checks may have braces within.
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const auto open = type.find(":{"), close = type.find('}');
  std::vector<std::string> choices;
  if (open == std::string::npos || close == std::string::npos) return choices;
  std::istringstream list(type.substr(open + 2, close - open - 2));
  for (std::string choice; std::getline(list, choice, ',');) choices.push_back(choice);
  return choices;
}

OptionEntry option_entry(const CLI::Option& option) {
  OptionEntry entry{.description = option.get_description(),
                    .standard = option.get_default_str(),
                    .positional = option.get_positional(),
                    .required = option.get_required(),
                    .many = option.get_items_expected_max() > 1};
  if (entry.positional) {
    entry.names = {option.get_name(true, false)};
  } else {
    for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
    for (const std::string& name : main_names(option)) entry.names.push_back("--" + name);
  }
  entry.choices = choices_of(option);
  if (option.get_items_expected_max() == 0) return entry;  // a flag
  const std::string type = option.get_type_name();
  entry.value = type.substr(0, type.find_first_of(": "));
  if (entry.value.empty()) entry.value = "TEXT";
  return entry;
}

CommandEntry entry_of(const CLI::App& command, const std::string& path) {
  CommandEntry entry{path, command.get_name(), command.get_description(), {}, {}};
  for (const CLI::Option* option : command.get_options()) {
    entry.options.push_back(option_entry(*option));
  }
  for (const CLI::App* inner : command.get_subcommands({})) {
    const std::string below = path.empty() ? inner->get_name() : path + " " + inner->get_name();
    entry.commands.push_back(entry_of(*inner, below));
  }
  return entry;
}

}  // namespace

CommandEntry command_tree(const CLI::App& program) {
  return entry_of(program, "");
}

std::vector<const CommandEntry*> all_commands(const CommandEntry& top) {
  std::vector<const CommandEntry*> all{&top};
  for (const CommandEntry& inner : top.commands) {
    for (const CommandEntry* below : all_commands(inner)) all.push_back(below);
  }
  return all;
}

}  // namespace psn::app
