// NetCDF-4 files: variables with named dimensions, in groups. Written by a module that is loaded
// when it is needed (psn/base/module.h), for few need it and it comes with HDF5.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace psn {

struct NetcdfDimension {
  std::string name;
  std::size_t extent;
};

struct NetcdfVariable {
  std::string name;
  std::vector<NetcdfDimension> dimensions;  // none: a number
  std::vector<double> values;               // row-major
  bool whole = false;                       // kept as integers
};

struct NetcdfGroup {
  std::string name;
  std::vector<NetcdfVariable> variables;  // those with a dimension of one name share it
  std::map<std::string, std::string> attributes{};
};

struct NetcdfFile {
  std::vector<NetcdfGroup> groups;
  std::map<std::string, std::string> attributes{};
};

// Throws DataError that names the file: it cannot be written, a name cannot be in such a file, or
// this psn was built or installed without NetCDF.
void write_netcdf(const std::string& path, const NetcdfFile& file);

}  // namespace psn
