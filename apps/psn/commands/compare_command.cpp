// psn compare: how well a surrogate stands in for its simulator.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/options.h"
#include "apps/psn/output/comparison_output.h"
#include "apps/psn/output/page_output.h"
#include "apps/psn/output/report_output.h"
#include "apps/psn/program_host.h"
#include "psn/base/error.h"
#include "psn/services/output_directory.h"
#include "psn/services/saving/results.h"

namespace psn::app {
namespace {

struct CompareOptions {
  CommonOptions common;
  SimulationArguments simulation;
  std::vector<double> range;
  services::ComparisonJob job;
};

void complete_job(CompareOptions& options) {
  options.job.simulation = options.simulation;
  options.job.simulation.seed = options.common.seed;
  const auto& range = options.range;
  if (range.empty()) return;
  if (range.size() != 2) throw InvalidArgument(services::kBadRange);
  options.job.range = {range[0], range[1]};
}

void compare_command(CompareOptions& options, const CLI::App& command) {
  complete_job(options);
  options.job.check();
  services::OutputDirectory out(options.simulation.out);
  ProgramHost host(!options.common.quiet, options.simulation.time_limit);
  const services::ComparisonResult result = services::compare(options.job, host);
  if (!options.common.quiet) warn_of_failures(result.failures);
  if (out) services::save(result, options.job, effective_config(command), out);
  if (options.common.json) {
    fmt::print("{}\n", services::json_of(result, options.job).dump(2));
  } else {
    print_comparison(result, options.job);
  }
  leave_page(options.simulation.out, {options.common.quiet, options.simulation.open});
}

}  // namespace

void add_compare_command(CLI::App& program) {
  auto* command = program.add_subcommand("compare", "how well a surrogate stands in for its model");
  auto options = std::make_shared<CompareOptions>();
  auto& o = *options;
  o.simulation.count = 50'000;
  o.simulation.add_to(*command, "traces of each");
  command->add_option("surrogate,--surrogate", o.job.surrogate, "its file, such as s.psn")
      ->required();
  command
      ->add_option("--min-count", o.job.min_count,
                   "transitions are compared from addresses left so many times in both")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  command->add_option("--bin", o.job.bin, "also compare the mean of this variable ...");
  command->add_option("--by", o.job.by, "... in bins of this one");
  command->add_option("--bins", o.job.bins, "how many")
      ->capture_default_str()
      ->check(CLI::Range(1, 10'000));
  command->add_option("--range", o.range, "of the bins, LOW,HIGH; all of --by's by default")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(finite_between(-1e300, 1e300));
  o.common.add_to(*command);
  command->callback([options, command] { compare_command(*options, *command); });
}

}  // namespace psn::app
