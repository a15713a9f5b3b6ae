// Event files, as TensorBoard reads them: scalars by name and step. docs/formats/training-log.md
// has the bytes.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace psn {

using Scalars = std::vector<std::pair<std::string, double>>;

class EventFile {
 public:
  // Starts a new file; throws DataError that names it. What other files of the folder have from
  // `first_step` on no longer counts.
  EventFile(std::string path, std::int64_t first_step);
  void add(std::int64_t step, const Scalars& scalars);

 private:
  void write(std::string_view event);
  std::string path_;
  std::ofstream out_;
};

// Parts of it, each as bytes.
std::string event_record(std::string_view event);  // with length and checksums
std::string scalar_event(double time, std::int64_t step, const Scalars& scalars);

}  // namespace psn
