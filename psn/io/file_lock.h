// FileLock: whoever has it is the only process at work on a result. The kernel lets go of it when
// the process ends, however that comes: after kill -9 the file "path.lock" stays, but binds nobody.
#pragma once

#include <string>

#include "psn/io/descriptor.h"

namespace psn {

class FileLock {
 public:
  // On "path.lock". Throws DataError if another process has it, naming `path` and that process, or
  // if the file cannot be made. Where the file system knows no locks, nothing is locked.
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  std::string path_;
  Descriptor file_;
};

}  // namespace psn
