#include "psn/io/npz.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <limits>

#include "psn/base/error.h"
#include "psn/io/atomic_file.h"
#include "psn/io/crc.h"

namespace psn {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string npy_header(const std::vector<std::int64_t>& shape) {
  std::string text = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}{}), }}",
                                 fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  constexpr std::size_t kBefore = 10, kAlignment = 64;  // magic, version and length come before
  text.resize((kBefore + text.size() + kAlignment) / kAlignment * kAlignment - kBefore - 1, ' ');
  text += '\n';
  std::string header = "\x93NUMPY";
  header += '\1';
  header += '\0';
  put(header, static_cast<std::uint16_t>(text.size()));
  return header + text;
}

// What local headers and directory entries share.
std::string description(std::string_view content, std::string_view name) {
  std::string out;
  put<std::uint16_t>(out, 20);      // version of the format
  put<std::uint16_t>(out, 0x0800);  // names are UTF-8
  put<std::uint16_t>(out, 0);       // stored, not compressed
  put<std::uint16_t>(out, 0);       // time
  put<std::uint16_t>(out, 0x21);    // date: the first one there is, so that files can be compared
  put(out, crc32(content));
  put(out, static_cast<std::uint32_t>(content.size()));
  put(out, static_cast<std::uint32_t>(content.size()));
  put(out, static_cast<std::uint16_t>(name.size()));
  put<std::uint16_t>(out, 0);  // extra field
  return out;
}

}  // namespace

void NpzWriter::add(const std::string& name, std::span<const double> values,
                    const std::vector<std::int64_t>& shape) {
  constexpr std::size_t kMaxBytes = std::numeric_limits<std::uint32_t>::max() - (1 << 24);
  const std::string file = name + ".npy";
  std::string content = npy_header(shape);
  if (bytes_.size() + content.size() + values.size_bytes() > kMaxBytes || count_ == 0xFFFF ||
      file.size() > 0xFFFF) {
    throw InvalidArgument("too much for one .npz file: more than 4 GiB or 65,535 arrays");
  }
  content.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  const std::string shared = description(content, file);
  const auto offset = static_cast<std::uint32_t>(bytes_.size());
  bytes_ += "PK\3\4" + shared + file;
  bytes_ += content;
  directory_ += "PK\1\2";
  put<std::uint16_t>(directory_, 20);  // made by
  directory_ += shared;
  directory_.append(2 + 2 + 2 + 4, '\0');  // comment, disk, attributes
  put(directory_, offset);
  directory_ += file;
  ++count_;
}

void NpzWriter::save(const std::string& path) const {
  std::string end = "PK\5\6";
  put<std::uint32_t>(end, 0);  // disks
  put(end, count_);
  put(end, count_);
  put(end, static_cast<std::uint32_t>(directory_.size()));
  put(end, static_cast<std::uint32_t>(bytes_.size()));
  put<std::uint16_t>(end, 0);  // comment
  write_file_atomically(path, bytes_ + directory_ + end);
}

}  // namespace psn
