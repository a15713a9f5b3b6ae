// A directory that only this user can enter, for the socket of a simulator that we start. Removed
// with all that is in it when this object is destroyed.
#pragma once

#include <string>

#include "psn/io/descriptor.h"

namespace psn::ppx {

class PrivateDirectory {
 public:
  PrivateDirectory();
  ~PrivateDirectory();
  PrivateDirectory(const PrivateDirectory&) = delete;
  PrivateDirectory& operator=(const PrivateDirectory&) = delete;
  const std::string& path() const { return path_; }

  // Removes those of processes that were killed. A living one holds a lock on each of its own.
  static void remove_abandoned();

 private:
  std::string path_;
  Descriptor lock_;
};

}  // namespace psn::ppx
