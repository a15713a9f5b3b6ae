// Results for other programs: NetCDF as ArviZ lays it out, arrays for NumPy, or a table.
// docs/howto/export-a-posterior.md. Blocking; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "psn/io/netcdf.h"
#include "psn/services/saved_result.h"

namespace psn::services {

enum class ExportFormat { kNetcdf, kNpz, kCsv };

struct ResultExport {
  std::string folder;  // of psn infer, psn predict or psn simulate --out
  ExportFormat format = ExportFormat::kNetcdf;
  std::string out;             // the file
  std::uint64_t resample = 0;  // so many draws of equal weight instead; 0: the samples as they are
  std::uint64_t seed = 0;      // of resampling
  // Folders of the groups besides the posterior, in NetCDF; empty: none.
  std::string predictive;  // of psn predict --out
  std::string prior;       // of psn simulate --out
};

// How many samples the file has. Throws DataError, and InvalidArgument for what does not go
// together.
std::uint64_t export_result(const ResultExport& job);
// The same of a result that is in no folder; the job's is not read.
std::uint64_t export_result(SavedResult result, const Observations& observations,
                            const ResultExport& job);

// InferenceData of ArviZ: posterior, sample_stats (log_weight), observed_data, and with the folders
// of the job posterior_predictive, prior and prior_predictive. Dimensions are chain, draw and
// NAME_dim_0, ...; a slash in a name becomes '|'.
NetcdfFile inference_data(const SavedResult& result, const Observations& observations,
                          const SavedResult* predictive, const SavedResult* prior);

}  // namespace psn::services
