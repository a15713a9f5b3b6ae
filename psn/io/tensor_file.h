// TensorFile: named arrays of doubles and floats with metadata, in the safetensors layout, so that
// any safetensors reader opens it. Carries a checksum over everything; loading runs no code.
// docs/formats/tensor-file.md has the bytes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace psn {

struct Tensor {
  enum class Type : std::uint8_t { kFloat32, kFloat64 };
  Type type = Type::kFloat64;
  std::vector<std::int64_t> shape;
  std::string bytes;  // little-endian, row-major

  static Tensor from(const std::vector<double>& values, std::vector<std::int64_t> shape);
  std::vector<double> doubles() const;
};

struct TensorFile {
  // What the file is, e.g. "psn posterior"; a reader refuses other kinds and later versions.
  std::string kind;
  int version = 1;
  std::map<std::string, std::string> metadata;
  std::map<std::string, Tensor> tensors;

  // Both throw DataError that names the file.
  void save(const std::string& path) const;
  static TensorFile load(const std::string& path, const std::string& kind, int newest_version);

  // The same on bytes in memory; `label` stands for the file in messages.
  std::string serialize() const;
  static TensorFile parse(const std::string& bytes, const std::string& label,
                          const std::string& kind, int newest_version);

  // Throws DataError, naming `label`, unless it is there with this many elements.
  const Tensor& tensor(const std::string& name, std::size_t elements,
                       const std::string& label) const;
};

}  // namespace psn
