// Arrays of numbers out of a .npz file, as NumPy's savez writes it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace psn {

struct NpzArray {
  std::vector<std::int64_t> shape;
  std::vector<double> values;  // row-major
};

// By name. Numbers of 1 to 8 bytes, whole or not, and truth values. Throws DataError that names the
// file, and the array: for compressed ones (savez_compressed), for others than numbers, for damage.
std::map<std::string, NpzArray> read_npz(const std::string& path);

}  // namespace psn
