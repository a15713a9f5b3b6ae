#include "psn/io/tensor_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "psn/base/error.h"
#include "psn/io/atomic_file.h"

namespace psn {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "files are little-endian");

constexpr std::size_t kMaxHeader = 256u << 20;

std::string_view type_name(Tensor::Type type) {
  return type == Tensor::Type::kFloat32 ? "F32" : "F64";
}

std::size_t type_size(Tensor::Type type) {
  return type == Tensor::Type::kFloat32 ? 4 : 8;
}

// Over the header as it would be without the checksum itself, then the data.
std::string checksum(json header, std::string_view data) {
  header["__metadata__"].erase("checksum");
  const std::string text = header.dump();
  const XXH64_hash_t seed = XXH3_64bits(text.data(), text.size());
  return fmt::format("{:016x}", XXH3_64bits_withSeed(data.data(), data.size(), seed));
}

[[noreturn]] void fail(const std::string& label, std::string_view what) {
  throw DataError(fmt::format("'{}': {}", label, what));
}

std::size_t checked_elements(const std::vector<std::int64_t>& shape, const std::string& label) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(count, static_cast<std::size_t>(extent), &count)) {
      fail(label, fmt::format("impossible shape [{}]", fmt::join(shape, ",")));
    }
  }
  return count;
}

Tensor parse_tensor(const std::string& name, const json& entry, std::string_view data,
                    const std::string& label) {
  Tensor tensor;
  const std::string type = entry.at("dtype");
  if (type != "F32" && type != "F64")
    fail(label, fmt::format("tensor '{}' of type {}", name, type));
  tensor.type = type == "F32" ? Tensor::Type::kFloat32 : Tensor::Type::kFloat64;
  tensor.shape = entry.at("shape").get<std::vector<std::int64_t>>();
  const auto offsets = entry.at("data_offsets").get<std::vector<std::uint64_t>>();
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data.size() ||
      checked_elements(tensor.shape, label) != (offsets[1] - offsets[0]) / type_size(tensor.type) ||
      (offsets[1] - offsets[0]) % type_size(tensor.type) != 0) {
    fail(label, fmt::format("tensor '{}' does not fit its bytes", name));
  }
  tensor.bytes = data.substr(offsets[0], offsets[1] - offsets[0]);
  return tensor;
}

}  // namespace

Tensor Tensor::from(const std::vector<double>& values, std::vector<std::int64_t> shape) {
  Tensor tensor{Type::kFloat64, std::move(shape), std::string(values.size() * 8, '\0')};
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

std::vector<double> Tensor::doubles() const {
  std::vector<double> values(bytes.size() / type_size(type));
  if (values.empty()) return values;
  if (type == Type::kFloat64) {
    std::memcpy(values.data(), bytes.data(), bytes.size());
  } else {
    std::vector<float> floats(values.size());
    std::memcpy(floats.data(), bytes.data(), bytes.size());
    values.assign(floats.begin(), floats.end());
  }
  return values;
}

std::string TensorFile::serialize() const {
  json header = json::object();
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    header[name] = {{"dtype", type_name(tensor.type)},
                    {"shape", tensor.shape},
                    {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
    data += tensor.bytes;
  }
  json& meta = header["__metadata__"] = metadata;
  meta["kind"] = kind;
  meta["version"] = std::to_string(version);
  meta["checksum"] = checksum(header, data);
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the data is aligned
  if (text.size() > kMaxHeader) {
    throw InvalidArgument(fmt::format("too many or too long names for one '{}' file: {} MiB of {}",
                                      kind, text.size() >> 20, kMaxHeader >> 20));
  }
  const std::uint64_t length = text.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + text + data;
}

TensorFile TensorFile::parse(const std::string& bytes, const std::string& label,
                             const std::string& kind, int newest_version) {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length) fail(label, "too short for a tensor file");
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > kMaxHeader || length > bytes.size() - sizeof length) {
    fail(label, "not a tensor file, or cut short");
  }
  const std::string_view data = std::string_view(bytes).substr(sizeof length + length);
  TensorFile file;
  try {
    // Flat by nature; without a limit, deep nesting would exhaust the stack further on.
    constexpr int kMaxDepth = 4;
    const json header = json::parse(std::string_view(bytes).substr(sizeof length, length),
                                    [&](int depth, json::parse_event_t, json&) {
                                      if (depth > kMaxDepth) fail(label, "damaged: nested header");
                                      return true;
                                    });
    file.metadata = header.at("__metadata__").get<std::map<std::string, std::string>>();
    file.kind = file.metadata["kind"];
    if (file.kind != kind) fail(label, fmt::format("is a '{}' file, not a '{}'", file.kind, kind));
    file.version = std::stoi(file.metadata["version"]);
    if (file.version < 1 || file.version > newest_version) {
      fail(label,
           fmt::format("format version {}; this psn reads up to {}", file.version, newest_version));
    }
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION  // a fuzzer would never get any further
    if (checksum(header, data) != file.metadata["checksum"]) {
      fail(label, "damaged: its checksum does not match");
    }
#endif
    std::size_t total = 0;  // tensors do not share bytes: a small file is never large in memory
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") continue;
      const Tensor& tensor =
          file.tensors.emplace(name, parse_tensor(name, entry, data, label)).first->second;
      total += tensor.bytes.size();
      if (total > data.size()) fail(label, "damaged: its tensors overlap");
    }
  } catch (const DataError&) {
    throw;
  } catch (const std::exception&) {
    fail(label, "damaged: its header is not what it should be");
  }
  for (const char* own : {"kind", "version", "checksum"}) file.metadata.erase(own);
  return file;
}

void TensorFile::save(const std::string& path) const {
  write_file_atomically(path, serialize());
}

TensorFile TensorFile::load(const std::string& path, const std::string& kind, int newest_version) {
  return parse(read_file(path), path, kind, newest_version);
}

const Tensor& TensorFile::tensor(const std::string& name, std::size_t elements,
                                 const std::string& label) const {
  const auto found = tensors.find(name);
  if (found == tensors.end()) fail(label, fmt::format("has no tensor '{}'", name));
  if (found->second.bytes.size() / type_size(found->second.type) != elements) {
    fail(label, fmt::format("tensor '{}' does not have {} elements", name, elements));
  }
  return found->second;
}

}  // namespace psn
