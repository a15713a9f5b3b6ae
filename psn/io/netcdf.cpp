#include "psn/io/netcdf.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "psn/base/error.h"
#include "psn/base/module.h"
#include "psn/io/atomic_file.h"

namespace psn {

void write_netcdf(const std::string& path, const NetcdfFile& file) {
  using Writer = void(const std::string&, const NetcdfFile&);
  auto* write = reinterpret_cast<Writer*>(symbol_of_module("libpsn_netcdf.so", "psn_write_netcdf"));
  if (!write) {
    throw DataError(fmt::format(
        "cannot write '{}': this psn is without NetCDF (package psn-netcdf); npz and csv need "
        "nothing",
        path));
  }
  const std::string unfinished = fmt::format("{}.{}.tmp", path, ::getpid());
  try {
    write(unfinished, file);
    rename_durably(unfinished, path);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(unfinished, ignored);
    throw;
  }
}

}  // namespace psn
