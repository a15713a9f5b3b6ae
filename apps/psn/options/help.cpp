#include "apps/psn/options/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "psn/base/error.h"
#include "psn/base/text.h"

namespace psn::app {
namespace {

constexpr std::size_t kWidth = 100, kSecondColumn = 34;

std::string hyphenated(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

// Puts words behind `text`, which ends in a line of this length, and each further line at `indent`.
void add_words(std::string& text, std::size_t length, const std::string& words,
               std::size_t indent) {
  std::istringstream in(words);
  bool first = true;
  for (std::string word; in >> word; first = false) {
    const std::size_t space = first ? 0 : 1;
    if (length + space + word.size() > kWidth && length > indent) {
      text += '\n' + std::string(indent, ' ');
      length = indent;
    } else if (!first) {
      text += ' ';
      ++length;
    }
    text += word;
    length += word.size();
  }
  text += '\n';
}

std::string two_columns(const std::string& left, const std::string& right) {
  std::string text = "  ";
  add_words(text, 2, left, 6);
  text.pop_back();
  const std::size_t last = text.size() - (text.rfind('\n') + 1);
  if (last + 1 < kSecondColumn) {
    text += std::string(kSecondColumn - last, ' ');
  } else {
    text += '\n' + std::string(kSecondColumn, ' ');
  }
  add_words(text, kSecondColumn, right, kSecondColumn);
  return text;
}

class HelpFormatter : public CLI::Formatter {
 public:
  // A positional that may be written as an option, too, stands among the positionals only.
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    if (!is_positional) {
      std::erase_if(options, [](const CLI::Option* option) { return option->get_positional(); });
    }
    return options.empty() ? "" : Formatter::make_group(group, is_positional, options);
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return two_columns(make_option_name(option, is_positional) + make_option_opts(option),
                       make_option_desc(option));
  }

  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    if (is_positional) return option->get_name(true, false);
    std::vector<std::string> names;
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : main_names(*option)) names.push_back("--" + name);
    return fmt::format("{}", fmt::join(names, ","));
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return two_columns(command->get_name(), command->get_description());
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter() {
  return std::make_shared<HelpFormatter>();
}

void add_help_command(CLI::App& program) {
  program.add_subcommand("help", "what a command takes: psn help infer");
}

std::vector<std::string> with_help_word(const CLI::App& program,
                                        std::vector<std::string> arguments) {
  if (arguments.empty() || arguments[0] != "help") return arguments;
  arguments.erase(arguments.begin());
  std::erase_if(arguments, [](const auto& word) { return word == "--help" || word == "-h"; });
  const CLI::App* command = &program;
  for (const std::string& word : arguments) {
    std::vector<std::string> names;
    const CLI::App* next = nullptr;
    for (const CLI::App* inner : command->get_subcommands({})) {
      names.push_back(inner->get_name());
      if (inner->check_name(word)) next = inner;
    }
    if (!next) {
      throw InvalidArgument(fmt::format("unknown command '{}'{}", word, suggestion(word, names)));
    }
    command = next;
  }
  arguments.emplace_back("--help");
  return arguments;
}

std::vector<std::string> main_names(const CLI::Option& option) {
  const std::vector<std::string>& all = option.get_lnames();
  std::vector<std::string> names;
  for (const std::string& name : all) {
    const std::string other = hyphenated(name);
    const bool is_twin = other != name && std::find(all.begin(), all.end(), other) != all.end();
    if (!is_twin) names.push_back(name);
  }
  return names;
}

std::string with_hyphens(const std::string& name) {
  return hyphenated(name) == name ? name : name + "," + hyphenated(name);
}

}  // namespace psn::app
