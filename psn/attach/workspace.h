// Workspace: the folders that runs work in, each with links to what the program may want to read.
// Removed when this object is destroyed, and by a watcher if this process is killed.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "psn/io/descriptor.h"
#include "psn/ppx/process.h"

namespace psn::attach {

// Not thread-safe.
class Workspace {
 public:
  // `files`: those of the current folder that runs find in theirs; nullopt: all. Throws
  // InvalidArgument if these are very many, DataError if nothing can be written.
  Workspace(ppx::ProcessStarter& starter, const std::optional<std::vector<std::string>>& files);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  const std::string& path() const { return path_; }
  // A folder that nobody has worked in, made if there is none of that number.
  std::string folder(std::size_t number);
  // Takes away what a run has left there. False: nothing was left.
  bool clean(const std::string& folder);

 private:
  void link(const std::string& folder) const;
  void start_watcher(ppx::ProcessStarter& starter);

  std::string path_;
  std::string from_;
  std::vector<std::string> names_;
  Descriptor alive_;  // the watcher waits for its end
  pid_t watcher_ = -1;
};

}  // namespace psn::attach
