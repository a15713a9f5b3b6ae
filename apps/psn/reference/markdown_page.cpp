#include "apps/psn/reference/markdown_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "apps/psn/reference/man_page.h"

namespace psn::app {
namespace {

// Text that a table of Markdown takes for nothing else.
std::string in_cell(const std::string& text) {
  constexpr std::string_view kSpecial = "\\`*_[]<>|$";
  std::string result;
  for (const char c : text) {
    if (kSpecial.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string usage(const CommandEntry& command) {
  std::string line = command.path.empty() ? "psn" : "psn " + command.path;
  if (!command.commands.empty()) return line + " COMMAND [OPTIONS]";
  for (const OptionEntry& option : command.options) {
    if (!option.positional) continue;
    const std::string word = option.names[0] + (option.many ? "..." : "");
    line += option.required ? " " + word : " [" + word + "]";
  }
  return line + " [OPTIONS]";
}

// What may stand behind the option: `is`, `ic`, or a kind of value.
std::string values_of(const OptionEntry& option) {
  if (option.choices.empty()) return option.value;
  return fmt::format("`{}`", fmt::join(option.choices, "`, `"));
}

std::string table_of(const CommandEntry& command, bool positional) {
  std::string rows;
  for (const OptionEntry& option : command.options) {
    if (option.positional != positional) continue;
    rows += fmt::format("| `{}` | {} | {} | {} |\n", fmt::join(option.names, "`, `"),
                        values_of(option), in_cell(option.standard), in_cell(option.description));
  }
  if (rows.empty()) return "";
  return fmt::format("\n## {}\n\n| {} | value | default | what it is |\n|---|---|---|---|\n{}",
                     positional ? "Arguments" : "Options", positional ? "name" : "option", rows);
}

}  // namespace

std::string markdown_page(const CommandEntry& command, const std::string& footer) {
  std::string commands;
  for (const CommandEntry& inner : command.commands) {
    commands += fmt::format("| [`{}`]({}.md) | {} |\n", inner.name, man_name(inner),
                            in_cell(inner.description));
  }
  if (!commands.empty()) commands = "\n## Commands\n\n| | |\n|---|---|\n" + commands;
  return fmt::format("# psn{}{}\n\n{}\n\n```text\n{}\n```\n{}{}{}{}",
                     command.path.empty() ? "" : " ", command.path, in_cell(command.description),
                     usage(command), commands, table_of(command, true), table_of(command, false),
                     command.path.empty() ? "\n## Exit codes\n\n" + in_cell(footer) + "\n" : "");
}

}  // namespace psn::app
