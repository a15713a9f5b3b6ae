// psn experiment: the paper's experiments, from training to the data of their figures.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/options.h"
#include "apps/psn/output/page_output.h"
#include "apps/psn/program_host.h"
#include "experiments/composite_cure/experiment.h"
#include "experiments/control_flow/experiment.h"
#include "experiments/program_synthesis/experiment.h"
#include "psn/nn/cores/core.h"
#include "psn/services/output_directory.h"

namespace psn::app {
namespace {

struct Experiment {
  const char* name;
  ExperimentReport (*run)(const ExperimentRequest&);
};
constexpr std::array kExperiments{
    Experiment{"control-flow", control_flow::run_experiment},
    Experiment{"program-synthesis", program_synthesis::run_experiment},
    Experiment{"composite-cure", composite_cure::run_experiment},
};

struct ExperimentOptions {
  CommonOptions common;
  std::string name, out;
  std::string preset = "default";
  bool quick = false, open = false;
  std::uint64_t traces = 0, stored = 0;
  std::string core;
  std::size_t core_dim = 0;
};

void experiment_command(const ExperimentOptions& options, const CLI::App& command) {
  services::OutputDirectory out(options.out);
  const auto goes_on = [] { return std::string("; the same command goes on"); };
  ProgramHost host(false);
  const services::WorkScope work(host, {.label = options.name, .rescue = goes_on});
  StatusLine status;
  ExperimentRequest request{.preset = options.preset,
                            .quick = options.quick,
                            .traces = options.traces,
                            .stored = options.stored,
                            .core = options.core,
                            .core_dim = options.core_dim,
                            .seed = options.common.seed,
                            .directory = options.out,
                            .monitor = &host.monitor()};
  if (!options.common.quiet) request.status = [&](const std::string& line) { status.show(line); };
  const auto* experiment =
      std::find_if(kExperiments.begin(), kExperiments.end(),
                   [&](const Experiment& e) { return e.name == options.name; });
  const ExperimentReport report = [&] {
    try {
      return experiment->run(request);
    } catch (const Interrupted&) {
      status.clear();
      throw services::InterruptedWork(goes_on());
    }
  }();
  status.clear();
  out.write(services::kConfigFile, effective_config(command));
  for (const auto& [name, content] : report.files) out.write(name, content);
  out.publish();
  fmt::print("{}", options.common.json ? report.results : report.summary);
  leave_page(options.out, {options.common.quiet, options.open});
}

}  // namespace

void add_experiment_command(CLI::App& program) {
  auto* command = program.add_subcommand("experiment", "repeat an experiment of the paper");
  auto options = std::make_shared<ExperimentOptions>();
  auto& o = *options;
  std::vector<std::string> names;
  for (const Experiment& experiment : kExperiments) names.emplace_back(experiment.name);
  command->add_option("name,--name", o.name, "which one")->required()->check(CLI::IsMember(names));
  command->add_option("--out", o.out, "directory for results and the data of figures")->required();
  command->add_option("--preset", o.preset, "default: our recipe; paper: the paper's")
      ->capture_default_str()
      ->check(CLI::IsMember({"default", "paper"}));
  command->add_flag("--quick", o.quick, "a look in minutes; its figures mean little");
  command->add_option("--traces", o.traces, "to train on, instead of the experiment's own number")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  command
      ->add_option(
          "--stored", o.stored,
          "composite-cure: traces in the store that is trained on, instead of its own number")
      ->check(CLI::Range(std::uint64_t{100}, std::uint64_t{1} << 40));
  const auto cores = core_names();
  command
      ->add_option("--core", o.core,
                   "control-flow, program-synthesis: what carries a trace from step to step")
      ->check(CLI::IsMember(std::vector<std::string>(cores.begin(), cores.end())));
  command
      ->add_option("--core-dim", o.core_dim, "width of the core, instead of the experiment's own")
      ->check(CLI::Range(1, 32768));
  add_open(*command, o.open);
  o.common.add_to(*command);
  command->callback([options, command] { experiment_command(*options, *command); });
}

}  // namespace psn::app
