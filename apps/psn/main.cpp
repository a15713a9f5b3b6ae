// psn: results on stdout, everything else on stderr, one line for each error.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "apps/psn/commands/commands.h"
#include "apps/psn/crash.h"
#include "apps/psn/exit_codes.h"
#include "apps/psn/options/help.h"
#include "apps/psn/options/options.h"
#include "apps/psn/output/version_output.h"
#include "apps/psn/ranks.h"
#include "psn/base/error.h"
#include "psn/base/text.h"
#include "psn/services/option_names.h"

namespace psn::app {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 success; 1 psn diagnose found warnings; 64 wrong option, name or value;\n"
    "65 unreadable, damaged or unwritable file; 70 the simulator failed; 71 internal error;\n"
    "76 a remote simulator broke the protocol; 130 interrupted.";

int complain(const std::string& message, ExitCode code) {
  // What is wrong for all is said by rank 0, which ends the others meanwhile.
  if (!ranks().leads()) std::this_thread::sleep_for(std::chrono::seconds(2));
  const std::string line =
      one_line(services::with_option_names(message));  // whatever a library or a file put into it
  const std::string who = ranks().alone() ? "" : fmt::format("rank {}: ", ranks().rank());
  std::fputs(fmt::format("psn: error: {}{}\n", who, line).c_str(), stderr);
  if (!ranks().alone()) ranks().abort(code);
  return code;
}

// The words that could have been meant: options of the chosen command, or command names.
std::vector<std::string> known_words(const CLI::App& program) {
  const auto chosen = program.get_subcommands();
  if (!chosen.empty()) return known_words(*chosen.front());
  std::vector<std::string> words;
  for (const CLI::App* command : program.get_subcommands({})) words.push_back(command->get_name());
  for (const CLI::Option* option : program.get_options()) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
    for (const std::string& name : option->get_snames()) words.push_back("-" + name);
  }
  return words;
}

int complain_about_extras(const CLI::App& program) {
  const auto extras = program.remaining(true);
  std::string word = extras.empty() ? "" : extras.front();
  if (word.starts_with("--")) word = word.substr(0, word.find('='));
  return complain(fmt::format("unknown {} '{}'{}", word.starts_with("-") ? "option" : "argument",
                              word, suggestion(word, known_words(program))),
                  kUsage);
}

// There may be none left for a message that is put together either.
int complain_of_memory() {
  constexpr std::string_view kText =
      "psn: error: out of memory; fewer samples, queries or simulations side by side need less\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kText.data(), kText.size());
  try {
    if (!ranks().alone()) ranks().abort(kInternal);
  } catch (const std::bad_alloc&) {
  }
  return kInternal;
}

// Where an exception can go no further: in another thread, in a library's destructor.
[[noreturn]] void terminate() {
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    ::_exit(complain_of_memory());
  } catch (...) {
  }
  std::abort();
}

int flushed() {
  return std::fflush(stdout) == 0 && !std::ferror(stdout)
             ? kSuccess
             : complain("cannot write to stdout", kBadData);
}

// Commands that would do all of their work once on every rank.
void refuse_ranks(CLI::App& parent, const std::string& parent_name) {
  for (CLI::App* command : parent.get_subcommands({})) {
    const std::string name = parent_name + " " + command->get_name();
    if (name == "psn train" || name == "psn infer" || name == "psn data generate") continue;
    if (name == "psn data") {
      refuse_ranks(*command, name);
      continue;
    }
    command->preparse_callback([name](std::size_t) {
      throw InvalidArgument(fmt::format("'{}' runs in one process, without mpirun", name));
    });
  }
}

// A flag given by hand comes after the configuration file's and wins.
void take_last(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_items_expected_max() == 1) {
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }
  }
  for (CLI::App* inner : command.get_subcommands({})) take_last(*inner);
}

int run(int argc, char** argv) {
  CLI::App program("psn: fast neural stand-ins for stochastic simulators, and inference in both",
                   "psn");
  program.formatter(help_formatter());
  program.set_version_flag("--version", version_text);
  program.footer(kFooter);
  program.require_subcommand(0, 1);
  add_models_command(program);
  add_simulate_command(program);
  add_infer_command(program);
  add_predict_command(program);
  add_graph_command(program);
  add_exact_command(program);
  add_inspect_command(program);
  add_doctor_command(program);
  add_train_command(program);
  add_serve_command(program);
  add_compare_command(program);
  add_validate_command(program);
  add_calibrate_command(program);
  add_criticise_command(program);
  add_evidence_command(program);
  add_data_command(program);
  add_experiment_command(program);
  add_zoo_command(program);
  add_report_command(program);
  add_summary_command(program);
  add_diagnose_command(program);
  add_attach_command(program);
  add_watch_command(program);
  add_export_command(program);
  add_completion_command(program);
  add_man_command(program);
  add_help_command(program);
  if (!ranks().alone()) refuse_ranks(program, "psn");
  take_last(program);
  try {
    auto arguments = with_config_file(program, with_help_word(program, {argv + 1, argv + argc}));
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    program.parse(arguments);
    if (program.get_subcommands().empty()) std::fputs(program.help().c_str(), stdout);
    return flushed();
  } catch (const CLI::ExtrasError&) {
    return complain_about_extras(program);
  } catch (const CLI::RuntimeError& result) {  // a command that speaks by its exit code
    const int written = flushed();
    return written == kSuccess ? result.get_exit_code() : written;
  } catch (const CLI::Success& wanted) {
    program.exit(wanted);
    return flushed();
  } catch (const CLI::ParseError& error) {
    return complain(error.what(), kUsage);
  } catch (const Interrupted& error) {
    return complain(error.what(), kInterrupted);
  } catch (const InvalidArgument& error) {
    return complain(error.what(), kUsage);
  } catch (const ModelError& error) {
    return complain(error.what(), kModelFailed);
  } catch (const ProtocolError& error) {
    return complain(error.what(), kProtocol);
  } catch (const DataError& error) {
    return complain(error.what(), kBadData);
  } catch (const std::system_error& error) {
    return complain(fmt::format("cannot write the result: {}", error.what()), kBadData);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return complain(fmt::format("internal: {}", error.what()), kInternal);
  }
}

}  // namespace
}  // namespace psn::app

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error, not the end
  try {
    psn::app::ranks();
    psn::app::report_crashes();
    std::set_terminate(psn::app::terminate);
    return psn::app::run(argc, argv);
  } catch (const psn::Error& error) {
    std::fputs(fmt::format("psn: error: {}\n", psn::one_line(error.what())).c_str(), stderr);
    return psn::app::kBadData;
  } catch (const std::bad_alloc&) {
    return psn::app::complain_of_memory();
  }
}
