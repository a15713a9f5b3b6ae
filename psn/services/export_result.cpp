#include "psn/services/export_result.h"

#include <optional>

#include "psn/base/error.h"
#include "psn/services/stores.h"

namespace psn::services {
namespace {

constexpr std::uint32_t kResampling = 0x657870;  // substream

std::optional<SavedResult> load_if_named(const std::string& folder) {
  if (folder.empty()) return std::nullopt;
  return load_result(folder);
}

void write_inference_data(const ResultExport& job, const SavedResult& result,
                          const Observations& observations) {
  const auto predictive = load_if_named(job.predictive), prior = load_if_named(job.prior);
  write_netcdf(job.out, inference_data(result, observations, predictive ? &*predictive : nullptr,
                                       prior ? &*prior : nullptr));
}

}  // namespace

std::uint64_t export_result(const ResultExport& job) {
  return export_result(load_result(job.folder), saved_observations(job.folder), job);
}

std::uint64_t export_result(SavedResult result, const Observations& observations,
                            const ResultExport& job) {
  const bool netcdf = job.format == ExportFormat::kNetcdf;
  if (!netcdf && !(job.predictive.empty() && job.prior.empty())) {
    throw InvalidArgument("`predictive` and `prior` are groups of `format` netcdf");
  }
  if (job.resample > 0) {
    Rng rng(job.seed, 0, kResampling);
    result.samples = result.samples.resample(job.resample, rng);
    result.samples.set_chains(0);
  }
  if (netcdf) {
    write_inference_data(job, result, observations);
  } else if (job.format == ExportFormat::kNpz) {
    write_npz(result.samples, job.out, true);
  } else {
    result.samples.write_csv(job.out);
  }
  return result.samples.size();
}

}  // namespace psn::services
