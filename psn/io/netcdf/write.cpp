// The module that writes NetCDF, by netcdf-c.
#include <fmt/format.h>
#include <netcdf.h>

#include <map>

#include "psn/base/error.h"
#include "psn/io/netcdf.h"

namespace psn {
namespace {

class Writer {
 public:
  explicit Writer(const std::string& path) : path_(path) {
    check(nc_create(path.c_str(), NC_NETCDF4 | NC_CLOBBER, &file_), "");
  }
  ~Writer() {
    if (file_ >= 0) nc_close(file_);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void write(const NetcdfFile& file) {
    write_attributes(file_, file.attributes);
    for (const NetcdfGroup& group : file.groups) write(group);
    const int open = file_;
    file_ = -1;
    check(nc_close(open), "");  // which is what puts it on disk
  }

 private:
  void check(int status, const std::string& what) const {
    if (status == NC_NOERR) return;
    throw DataError(fmt::format("cannot write '{}'{}: {}", path_,
                                what.empty() ? "" : fmt::format(", '{}'", what),
                                nc_strerror(status)));
  }

  void write_attributes(int group, const std::map<std::string, std::string>& attributes) {
    for (const auto& [name, text] : attributes) {
      check(nc_put_att_text(group, NC_GLOBAL, name.c_str(), text.size(), text.c_str()), name);
    }
  }

  void write(const NetcdfGroup& group) {
    int id = 0;
    check(nc_def_grp(file_, group.name.c_str(), &id), group.name);
    write_attributes(id, group.attributes);
    std::map<std::string, int> known;  // dimensions
    for (const NetcdfVariable& variable : group.variables) {
      std::vector<int> dimensions;
      for (const auto& [name, extent] : variable.dimensions) {
        const auto [place, is_new] = known.try_emplace(name);
        if (is_new) check(nc_def_dim(id, name.c_str(), extent, &place->second), name);
        dimensions.push_back(place->second);
      }
      write(id, variable, dimensions);
    }
  }

  void write(int group, const NetcdfVariable& variable, const std::vector<int>& dimensions) {
    int id = 0;
    check(nc_def_var(group, variable.name.c_str(), variable.whole ? NC_INT64 : NC_DOUBLE,
                     static_cast<int>(dimensions.size()), dimensions.data(), &id),
          variable.name);
    check(nc_put_var_double(group, id, variable.values.data()), variable.name);
  }

  std::string path_;
  int file_ = -1;
};

}  // namespace
}  // namespace psn

extern "C" void psn_write_netcdf(const std::string& path, const psn::NetcdfFile& file) {
  psn::Writer(path).write(file);
}
