// How help looks: no line above 100 columns, every positional once, names with hyphens.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace psn::app {

// For the program; commands that are added later have it too.
std::shared_ptr<CLI::FormatterBase> help_formatter();

// Lists the word `help` among the commands.
void add_help_command(CLI::App& program);

// `psn help infer` as `psn infer --help`. Throws InvalidArgument for what is no command.
std::vector<std::string> with_help_word(const CLI::App& program,
                                        std::vector<std::string> arguments);

// An option's long names without dashes, and without those that are others with hyphens.
std::vector<std::string> main_names(const CLI::Option& option);

// "--lstm_dim" as "--lstm_dim,--lstm-dim": an option may be written either way.
std::string with_hyphens(const std::string& name);

}  // namespace psn::app
