// psn export: results for other programs.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/options.h"
#include "psn/services/export_result.h"

namespace psn::app {
namespace {

struct ExportOptions {
  CommonOptions common;
  std::string format;
  services::ResultExport job;
};

void export_command(ExportOptions& options) {
  static const std::map<std::string, services::ExportFormat> kFormats{
      {"netcdf", services::ExportFormat::kNetcdf},
      {"npz", services::ExportFormat::kNpz},
      {"csv", services::ExportFormat::kCsv}};
  services::ResultExport& job = options.job;
  job.format = kFormats.at(options.format);
  job.seed = options.common.seed;
  const std::uint64_t samples = services::export_result(job);
  if (options.common.json) {
    const nlohmann::ordered_json json{
        {"file", job.out}, {"format", options.format}, {"samples", samples}};
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("{}: {} samples of '{}'\n", job.out, samples, job.folder);
  }
}

}  // namespace

void add_export_command(CLI::App& program) {
  auto* command =
      program.add_subcommand("export", "a result for other programs: NetCDF (ArviZ), npz, CSV");
  auto options = std::make_shared<ExportOptions>();
  command
      ->add_option("folder,--folder", options->job.folder,
                   "folder of psn infer, psn predict or psn simulate --out")
      ->required();
  command->add_option("--format", options->format, "of the file")
      ->required()
      ->check(CLI::IsMember({"netcdf", "npz", "csv"}));
  command->add_option("--out", options->job.out, "the file to write")->required();
  command
      ->add_option("--resample", options->job.resample,
                   "so many draws of equal weight, for programs that know no weights; 0: the "
                   "samples as they are")
      ->capture_default_str()
      ->check(CLI::Range(0, 1 << 30));
  command->add_option("--predictive", options->job.predictive,
                      "folder of psn predict --out: the group posterior_predictive");
  command->add_option("--prior", options->job.prior,
                      "folder of psn simulate --out: the groups prior and prior_predictive");
  options->common.add_to(*command);
  command->callback([options] { export_command(*options); });
}

}  // namespace psn::app
