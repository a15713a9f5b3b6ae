// OutputDirectory: the directory of --out. Found to be writable before the work, made after it, so
// that nothing is left behind by work that fails.
//
// Files are written elsewhere and appear with publish(): all at once where there was no directory,
// or an empty one. In a directory with something in it they are moved one by one; the file that was
// written last is taken away first and comes last, so that it vouches for the others.
#pragma once

#include <string>
#include <vector>

#include "psn/io/descriptor.h"

namespace psn::services {

// Files of that name that other commands read.
inline constexpr const char* kConfigFile = "config.toml";
inline constexpr const char* kDrawsFile = "draws.safetensors";
inline constexpr const char* kSamplesFile = "samples.safetensors";  // of psn simulate

class OutputDirectory {
 public:
  // An empty path stands for none. Throws DataError.
  explicit OutputDirectory(std::string path);
  ~OutputDirectory();
  OutputDirectory(const OutputDirectory&) = delete;
  OutputDirectory& operator=(const OutputDirectory&) = delete;
  explicit operator bool() const { return !path_.empty(); }

  // Where to write the file of that name.
  std::string file(const std::string& name);
  void write(const std::string& name, const std::string& content);
  void publish();

 private:
  void make_staging();
  void move_files();

  std::string path_, staging_;  // staging_ is empty until there is something in it
  Descriptor lock_;             // tells it from what a killed process left
  std::vector<std::string> names_;
};

// A path to which an ending may be put, for what lies beside the directory: "r" for "r" and "r/";
// within it if it has no name of its own (".") or there is no writing beside it.
std::string place_beside(const std::string& directory);

}  // namespace psn::services
