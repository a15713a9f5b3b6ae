// psn completion, psn man: the program's own account of what it takes.
#include <fmt/format.h>

#include <memory>

#include "apps/psn/built_in_models.h"
#include "apps/psn/commands/commands.h"
#include "apps/psn/options/options.h"
#include "apps/psn/reference/completion.h"
#include "apps/psn/reference/man_page.h"
#include "apps/psn/reference/markdown_page.h"
#include "psn/base/error.h"
#include "psn/base/text.h"
#include "psn/services/output_directory.h"
#include "psn/version.h"

namespace psn::app {
namespace {

struct ManOptions {
  std::vector<std::string> words;
  std::string out, format = "roff";
};

std::string completion_for(const std::string& shell, const CommandEntry& tree) {
  std::vector<std::string> models;
  for (const Model& model : built_in_models()) models.push_back(model.name);
  if (shell == "bash") return bash_completion(tree, models);
  return shell == "zsh" ? zsh_completion(tree, models) : fish_completion(tree, models);
}

void man_command(const CLI::App& program, const ManOptions& options) {
  const CommandEntry tree = command_tree(program);
  const std::string wanted = fmt::format("{}", fmt::join(options.words, " "));
  const bool markdown = options.format == "markdown";
  services::OutputDirectory out(options.out);
  std::vector<std::string> known;
  for (const CommandEntry* command : all_commands(tree)) {
    const std::string page = markdown ? markdown_page(*command, program.get_footer())
                                      : man_page(*command, PSN_VERSION, program.get_footer());
    if (out) out.write(man_name(*command) + (markdown ? ".md" : ".1"), page);
    known.push_back(command->path);
    if (out || command->path != wanted) continue;
    fmt::print("{}", page);
    return;
  }
  if (out) return out.publish();
  throw InvalidArgument(fmt::format("unknown command '{}'{}", wanted, suggestion(wanted, known)));
}

}  // namespace

void add_completion_command(CLI::App& program) {
  auto* command =
      program.add_subcommand("completion", "a script that lets a shell complete psn's commands");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "whose script, for its own folder or to be sourced")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback(
      [shell, &program] { fmt::print("{}", completion_for(*shell, command_tree(program))); });
}

void add_man_command(CLI::App& program) {
  auto* command = program.add_subcommand("man", "the man page of psn or of a command");
  auto options = std::make_shared<ManOptions>();
  command->add_option("command", options->words, "such as infer, or data generate")->expected(0, 3);
  command->add_option("--out", options->out, "folder for all pages, instead of one on stdout");
  command->add_option("--format", options->format, "roff for man, markdown for the site")
      ->check(CLI::IsMember({"roff", "markdown"}))
      ->capture_default_str();
  command->callback([options, &program] { man_command(program, *options); });
}

}  // namespace psn::app
