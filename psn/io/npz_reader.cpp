#include "psn/io/npz_reader.h"

#include <fmt/format.h>

#include <cstring>
#include <regex>
#include <string_view>

#include "psn/base/error.h"
#include "psn/io/atomic_file.h"
#include "psn/io/crc.h"

namespace psn {
namespace {

class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

  std::string_view part(std::size_t from, std::size_t size) const {
    if (from > bytes_.size() || size > bytes_.size() - from) throw DataError("cut off");
    return bytes_.substr(from, size);
  }
  template <class T>
  T number(std::size_t from) const {
    T value;
    std::memcpy(&value, part(from, sizeof value).data(), sizeof value);
    return value;
  }
  std::size_t size() const { return bytes_.size(); }
  std::size_t rfind(std::string_view mark) const { return bytes_.rfind(mark); }

 private:
  std::string_view bytes_;
};

template <class T>
std::vector<double> as_doubles(std::string_view content) {
  std::vector<double> values(content.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, content.data() + i * sizeof(T), sizeof value);
    values[i] = static_cast<double>(value);
  }
  return values;
}

std::vector<double> numbers(const std::string& type, std::string_view content) {
  static const std::map<std::string, std::vector<double> (*)(std::string_view)> kTypes{
      {"<f8", as_doubles<double>},        {"<f4", as_doubles<float>},
      {"<i8", as_doubles<std::int64_t>},  {"<i4", as_doubles<std::int32_t>},
      {"<i2", as_doubles<std::int16_t>},  {"|i1", as_doubles<std::int8_t>},
      {"<u8", as_doubles<std::uint64_t>}, {"<u4", as_doubles<std::uint32_t>},
      {"<u2", as_doubles<std::uint16_t>}, {"|u1", as_doubles<std::uint8_t>},
      {"|b1", as_doubles<std::uint8_t>}};
  const auto found = kTypes.find(type);
  if (found == kTypes.end()) throw DataError(fmt::format("of type {}, not numbers", type));
  return found->second(content);
}

std::vector<std::int64_t> shape_in(const std::string& text) {
  std::vector<std::int64_t> shape;
  static const std::regex kNumber("[0-9]+");
  for (std::sregex_iterator at(text.begin(), text.end(), kNumber), end; at != end; ++at) {
    if (at->length() > 15) throw DataError("too large");
    shape.push_back(std::stoll(at->str()));
  }
  return shape;
}

// A .npy file: a magic number, a header in Python's notation, numbers.
NpzArray array_in(const Bytes& file) {
  if (file.part(0, 6) != "\x93NUMPY") throw DataError("no array");
  const bool old = file.number<std::uint8_t>(6) == 1;
  const std::size_t before = old ? 10 : 12;
  const std::size_t size = old ? file.number<std::uint16_t>(8) : file.number<std::uint32_t>(8);
  const std::string header(file.part(before, size));
  static const std::regex kHeader(
      "'descr': *'([^']*)'.*'fortran_order': *(True|False).*'shape': *\\(([^)]*)\\)");
  std::smatch match;
  if (!std::regex_search(header, match, kHeader)) throw DataError("a header of another kind");
  NpzArray array{shape_in(match[3]), {}};
  if (match[2] == "True" && array.shape.size() > 1) throw DataError("in Fortran's order");
  const std::size_t start = before + size;
  array.values = numbers(match[1], file.part(start, file.size() - start));
  std::size_t count = 1;
  for (const std::int64_t extent : array.shape) {
    if (extent != 0 && count > array.values.size() / static_cast<std::size_t>(extent)) {
      throw DataError("cut off");
    }
    count *= static_cast<std::size_t>(extent);
  }
  if (count != array.values.size()) throw DataError("of another size than its header says");
  return array;
}

// What an entry of the archive's directory says.
struct Member {
  std::string name;
  std::string_view content;
  std::size_t next;  // entry
};

Member member_at(const Bytes& archive, std::size_t entry) {
  if (archive.part(entry, 4) != "PK\1\2") throw DataError("a damaged directory");
  const auto length = [&](std::size_t at) { return archive.number<std::uint16_t>(entry + at); };
  Member member{std::string(archive.part(entry + 46, length(28))),
                {},
                entry + 46 + length(28) + length(30) + length(32)};
  if (length(10) != 0) throw DataError(member.name + " is compressed: use numpy.savez");
  const std::size_t size = archive.number<std::uint32_t>(entry + 24);
  const std::size_t local = archive.number<std::uint32_t>(entry + 42);
  if (size == 0xFFFFFFFF || local == 0xFFFFFFFF) throw DataError("more than 4 GiB");
  const std::size_t start = local + 30 + archive.number<std::uint16_t>(local + 26) +
                            archive.number<std::uint16_t>(local + 28);
  member.content = archive.part(start, size);
  if (crc32(member.content) != archive.number<std::uint32_t>(entry + 16)) {
    throw DataError(member.name + " is damaged");
  }
  return member;
}

std::map<std::string, NpzArray> arrays_in(const Bytes& archive) {
  const std::size_t end = archive.rfind("PK\5\6");
  if (end == std::string_view::npos) throw DataError("no .npz file");
  std::map<std::string, NpzArray> arrays;
  std::size_t entry = archive.number<std::uint32_t>(end + 16);
  for (std::size_t left = archive.number<std::uint16_t>(end + 10); left > 0; --left) {
    const Member member = member_at(archive, entry);
    entry = member.next;
    const std::string name = member.name.substr(0, member.name.rfind(".npy"));
    try {
      arrays.emplace(name, array_in(Bytes(member.content)));
    } catch (const DataError& error) {
      throw DataError(fmt::format("array '{}': {}", name, error.what()));
    }
  }
  return arrays;
}

}  // namespace

std::map<std::string, NpzArray> read_npz(const std::string& path) {
  const std::string bytes = read_file(path);
  try {
    return arrays_in(Bytes(bytes));
  } catch (const DataError& error) {
    throw DataError(fmt::format("'{}': {}", path, error.what()));
  }
}

}  // namespace psn
