// A directory that only this user can enter, for the socket of a simulator that we start. Removed
// with all that is in it when this object is destroyed.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "psn/base/error.h"

namespace psn::ppx {

class PrivateDirectory {
 public:
  PrivateDirectory() : path_((std::filesystem::temp_directory_path() / "psn-XXXXXX").string()) {
    if (!::mkdtemp(path_.data())) throw DataError(fmt::format("cannot make '{}'", path_));
  }
  ~PrivateDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  PrivateDirectory(const PrivateDirectory&) = delete;
  PrivateDirectory& operator=(const PrivateDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace psn::ppx
