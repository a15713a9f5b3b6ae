// psn zoo: trains and judges programs that psn was not made for, with the default options.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/duration.h"
#include "apps/psn/options/options.h"
#include "apps/psn/output/page_output.h"
#include "apps/psn/program_host.h"
#include "experiments/zoo_trial/trial.h"
#include "psn/base/error.h"
#include "psn/base/text.h"
#include "psn/services/output_directory.h"

namespace psn::app {
namespace {

struct ZooOptions {
  CommonOptions common;
  std::vector<std::string> names;
  std::string out, budget = "5m";
  bool open = false;
  std::uint64_t runs = 0, samples = 10'000;
};

// In the order of the zoo; "zoo-" need not be said.
std::vector<zoo::Program> chosen_programs(const std::vector<std::string>& names) {
  std::vector<zoo::Program> all = zoo::programs();
  std::vector<std::string> known;
  for (const zoo::Program& program : all) known.push_back(program.model.name);
  std::vector<std::string> wanted;
  for (const std::string& name : names) {
    wanted.push_back(name.starts_with("zoo-") ? name : "zoo-" + name);
    if (std::find(known.begin(), known.end(), wanted.back()) == known.end()) {
      throw InvalidArgument(
          fmt::format("the zoo has no '{}'{}", name, suggestion(wanted.back(), known)));
    }
  }
  if (wanted.empty()) return all;
  std::erase_if(all, [&](const zoo::Program& program) {
    return std::find(wanted.begin(), wanted.end(), program.model.name) == wanted.end();
  });
  return all;
}

void zoo_command(const ZooOptions& options, const CLI::App& command) {
  const auto programs = chosen_programs(options.names);
  std::filesystem::create_directories(options.out);
  StatusLine status;
  zoo::TrialRequest request{.budget = seconds_of(options.budget),
                            .runs = options.runs,
                            .samples = options.samples,
                            .seed = options.common.seed,
                            .directory = options.out};
  if (!options.common.quiet) request.status = [&](const std::string& line) { status.show(line); };
  ProgramHost host(false);
  std::vector<zoo::Trial> trials;
  for (const zoo::Program& program : programs) {
    try {
      trials.push_back(zoo::run_trial(program, request, host));
    } catch (const Interrupted&) {
      status.clear();
      throw services::InterruptedWork("; the same command goes on");
    }
  }
  status.clear();
  services::OutputDirectory out(options.out);
  out.write(services::kConfigFile, effective_config(command));
  out.write("zoo.json", zoo::trials_json(trials, request));
  out.publish();
  fmt::print("{}",
             options.common.json ? zoo::trials_json(trials, request) : zoo::trials_text(trials));
  leave_page(options.out, {options.common.quiet, options.open});
}

}  // namespace

void add_zoo_command(CLI::App& program) {
  auto* command = program.add_subcommand(
      "zoo", "train and judge programs that psn was not made for, with the default options");
  auto options = std::make_shared<ZooOptions>();
  auto& o = *options;
  command->add_option("names,--names", o.names, "which ones (psn models); all by default");
  command->add_option("--out", o.out, "directory for networks and results; goes on where it was")
      ->required();
  command->add_option("--budget", o.budget, "of training, for each program: 90s, 5m")
      ->capture_default_str()
      ->check(duration());
  command
      ->add_option("--runs", o.runs,
                   "learn from so many stored runs of each program, again and again, instead of "
                   "as many as the budget allows; 0: no")
      ->capture_default_str()
      ->check(CLI::Range(0, 1 << 30));
  command->add_option("-n,--samples", o.samples, "of each posterior")
      ->capture_default_str()
      ->check(CLI::Range(1000, 1 << 24));
  add_open(*command, o.open);
  o.common.add_to(*command);
  command->callback([options, command] { zoo_command(*options, *command); });
}

}  // namespace psn::app
