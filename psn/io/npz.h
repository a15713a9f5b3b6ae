// Arrays for NumPy: a .npz file, which is a zip archive of .npy files, here without compression.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace psn {

class NpzWriter {
 public:
  // Row-major. Throws InvalidArgument for more than 4 GiB in all: the plain zip format ends there.
  void add(const std::string& name, std::span<const double> values,
           const std::vector<std::int64_t>& shape);
  // Throws DataError that names the file.
  void save(const std::string& path) const;

 private:
  std::string bytes_, directory_;
  std::uint16_t count_ = 0;
};

}  // namespace psn
