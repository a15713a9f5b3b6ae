#include "apps/psn/reference/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace psn::app {
namespace {

bool takes_model(const OptionEntry& option) {
  return option.positional && option.names[0] == "model";
}

std::string with_escapes(const std::string& text, const std::string& escaped) {
  std::string result;
  for (const char c : text) {
    if (escaped.find(c) != std::string::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string single_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// "data generate" as data_generate.
std::string identifier(std::string path) {
  std::replace_if(
      path.begin(), path.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  return path;
}

std::vector<std::string> names_below(const CommandEntry& command) {
  std::vector<std::string> names;
  for (const CommandEntry& inner : command.commands) names.push_back(inner.name);
  return names;
}

// "data" of "data generate".
std::string parent_of(const CommandEntry& command) {
  const auto space = command.path.rfind(' ');
  return space == std::string::npos ? "" : command.path.substr(0, space);
}

// ---- bash -------------------------------------------------------------------------------------

// What is completed at a command: words without dashes, options, and values of options.
std::string bash_case(const CommandEntry& command, const std::vector<std::string>& models) {
  std::vector<std::string> words = names_below(command), options;
  std::string values;
  for (const OptionEntry& option : command.options) {
    if (option.positional) {
      const auto& more = takes_model(option) ? models : option.choices;
      words.insert(words.end(), more.begin(), more.end());
      continue;
    }
    options.insert(options.end(), option.names.begin(), option.names.end());
    if (option.value.empty()) continue;
    values += fmt::format("        {}) values='{}' wants_value=1 ;;\n",
                          fmt::join(option.names, "|"), fmt::join(option.choices, " "));
  }
  return fmt::format(
      "    '{}')\n      words='{}'\n      options='{}'\n      case $before in\n{}      esac ;;\n",
      command.path, fmt::join(words, " "), fmt::join(options, " "), values);
}

constexpr const char* kBashHead = R"(# Completion of psn for bash, made by: psn completion bash
_psn() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  # --option=value is three words.
  if [[ $current == = ]]; then
    current=
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD-2]}
  fi
  local command= i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$command/${COMP_WORDS[i]}" in
)";
constexpr const char* kBashTail = R"(  esac
  if [[ $wants_value ]]; then
    words=$values
  elif [[ $current == -* ]]; then
    words=$options
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o bashdefault -o default -F _psn psn
)";

// ---- zsh --------------------------------------------------------------------------------------

// How _arguments wants an option: a string for each of its names.
std::string zsh_option(const OptionEntry& option, const std::vector<std::string>& models) {
  std::string action = "_files";
  if (!option.choices.empty()) action = fmt::format("({})", fmt::join(option.choices, " "));
  if (takes_model(option)) action = fmt::format("_psn_or_file {}", fmt::join(models, " "));
  if (option.positional) {
    return "    " + single_quoted((option.many ? "*:" : ":") + option.names[0] + ":" + action) +
           " \\\n";
  }
  std::string text;
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    const std::string value = with_escapes(option.value, ":");
    text += "    " +
            single_quoted(fmt::format("{}{}{}[{}]{}", option.many ? "*" : "", name,
                                      !option.value.empty() && is_long ? "=" : "",
                                      with_escapes(option.description, "[]\\"),
                                      option.value.empty() ? "" : ":" + value + ":" + action)) +
            " \\\n";
  }
  return text;
}

std::string zsh_function(const CommandEntry& command, const std::vector<std::string>& models) {
  std::string text = fmt::format("_psn{}() {{\n", identifier("_" + command.path));
  std::string arguments;
  for (const OptionEntry& option : command.options) {
    if (!option.positional || command.commands.empty()) arguments += zsh_option(option, models);
  }
  if (command.commands.empty())
    return text + "  _arguments -s \\\n" + arguments + "    && return\n}\n";
  std::string described, dispatch;
  for (const CommandEntry& inner : command.commands) {
    described +=
        "    " + single_quoted(inner.name + ":" + with_escapes(inner.description, ":\\")) + "\n";
    dispatch += fmt::format("      {}) _psn{} ;;\n", inner.name, identifier("_" + inner.path));
  }
  return text +
         fmt::format(
             "  local context state line\n  typeset -A opt_args\n  local -a commands=(\n{}  )\n"
             "  _arguments -C -s \\\n{}    '1:command:->command' '*::argument:->argument'\n"
             "  case $state in\n    command) _describe command commands ;;\n"
             "    argument) case $line[1] in\n{}    esac ;;\n  esac\n}}\n",
             described, arguments, dispatch);
}

// ---- fish -------------------------------------------------------------------------------------

std::string fish_option(const std::string& at, const OptionEntry& option,
                        const std::vector<std::string>& models) {
  const auto& choices = takes_model(option) ? models : option.choices;
  std::string line = fmt::format("complete -c psn -n {}", at);
  if (option.positional) {
    return choices.empty() ? "" : fmt::format("{} -a '{}'\n", line, fmt::join(choices, " "));
  }
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.value.empty())
    line += choices.empty() ? " -r" : fmt::format(" -x -a '{}'", fmt::join(choices, " "));
  return fmt::format("{} -d '{}'\n", line, with_escapes(option.description, "'\\"));
}

}  // namespace

std::string bash_completion(const CommandEntry& program, const std::vector<std::string>& models) {
  std::string walk, cases;
  for (const CommandEntry* command : all_commands(program)) {
    cases += bash_case(*command, models);
    if (command->path.empty()) continue;
    walk += fmt::format("      '{}/{}') command='{}' ;;\n", parent_of(*command), command->name,
                        command->path);
  }
  return fmt::format(
      "{}{}    esac\n  done\n  local words= options= values= wants_value=\n  case $command "
      "in\n{}{}",
      kBashHead, walk, cases, kBashTail);
}

std::string zsh_completion(const CommandEntry& program, const std::vector<std::string>& models) {
  std::string text =
      "#compdef psn\n# Completion of psn for zsh, made by: psn completion zsh\n"
      "_psn_or_file() { compadd -- $@; _files }\n";
  for (const CommandEntry* command : all_commands(program)) text += zsh_function(*command, models);
  return text + "if [[ $funcstack[1] == _psn ]]; then _psn_; else compdef _psn_ psn; fi\n";
}

std::string fish_completion(const CommandEntry& program, const std::vector<std::string>& models) {
  std::string text =
      "# Completion of psn for fish, made by: psn completion fish\n"
      "function __psn_at\n  set -l path ''\n"
      "  for word in (commandline -opc)[2..-1]\n    switch \"$path/$word\"\n";
  for (const CommandEntry* command : all_commands(program)) {
    if (command->path.empty()) continue;
    text += fmt::format("      case '{}/{}'\n        set path '{}'\n", parent_of(*command),
                        command->name, command->path);
  }
  text += "    end\n  end\n  test \"$path\" = \"$argv[1]\"\nend\n";
  for (const CommandEntry* command : all_commands(program)) {
    const std::string at = fmt::format("\"__psn_at '{}'\"", command->path);
    for (const CommandEntry& inner : command->commands) {
      text += fmt::format("complete -c psn -n {} -f -a {} -d '{}'\n", at, inner.name,
                          with_escapes(inner.description, "'\\"));
    }
    for (const OptionEntry& option : command->options) text += fish_option(at, option, models);
  }
  return text;
}

}  // namespace psn::app
