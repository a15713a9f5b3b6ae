#include "apps/psn/reference/man_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace psn::app {
namespace {

// Text that roff takes for nothing else.
std::string plain(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result.starts_with('.') || result.starts_with('\'') ? "\\&" + result : result;
}

std::string synopsis(const CommandEntry& command) {
  std::string text = fmt::format(".B psn{}\n", command.path.empty() ? "" : " " + command.path);
  if (!command.commands.empty()) return text + ".I COMMAND\n[\\fIOPTIONS\\fR]\n";
  text += "[\\fIOPTIONS\\fR]\n";
  for (const OptionEntry& option : command.options) {
    if (!option.positional) continue;
    const std::string word =
        fmt::format("\\fI{}\\fR{}", plain(option.names[0]), option.many ? "..." : "");
    text += option.required ? word + "\n" : "[" + word + "]\n";
  }
  return text;
}

std::string option_text(const OptionEntry& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) names.push_back("\\fB" + plain(name) + "\\fR");
  std::string text = fmt::format(".TP\n{}", fmt::join(names, ", "));
  if (!option.value.empty() && !option.positional) {
    text += option.choices.empty() ? " \\fI" + plain(option.value) + "\\fR"
                                   : " " + plain(fmt::format("{}", fmt::join(option.choices, "|")));
  }
  text += "\n" + plain(option.description);
  if (!option.standard.empty()) text += plain(" [" + option.standard + "]");
  return text + "\n";
}

std::string options(const CommandEntry& command, bool positional) {
  std::string text;
  for (const OptionEntry& option : command.options) {
    if (option.positional == positional) text += option_text(option);
  }
  return text;
}

std::string section(const std::string& name, const std::string& text) {
  return text.empty() ? "" : ".SH " + name + "\n" + text;
}

}  // namespace

std::string man_name(const CommandEntry& command) {
  std::string name = command.path.empty() ? "psn" : "psn-" + command.path;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string man_page(const CommandEntry& command, const std::string& version,
                     const std::string& footer) {
  const std::string name = man_name(command);
  std::string title = name, commands, see;
  std::transform(title.begin(), title.end(), title.begin(), ::toupper);
  for (const CommandEntry& inner : command.commands) {
    commands += fmt::format(".TP\n\\fB{}\\fR\n{}\n", plain(inner.name), plain(inner.description));
  }
  if (!command.path.empty()) see = ".BR psn (1)\n";
  return fmt::format(".TH {} 1 \"\" \"psn {}\" \"psn\"\n", plain(title), version) +
         section("NAME", plain(name) + " \\- " + plain(command.description) + "\n") +
         section("SYNOPSIS", synopsis(command)) + section("COMMANDS", commands) +
         section("ARGUMENTS", options(command, true)) +
         section("OPTIONS", options(command, false)) +
         section("EXIT STATUS", command.path.empty() ? plain(footer) + "\n" : "As of psn(1).\n") +
         section("SEE ALSO", see);
}

}  // namespace psn::app
