// Messages as bytes: numbers as they lie in memory, strings and vectors with their length before
// them. For processes of one program on machines of one kind; files have formats of their own.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "psn/base/error.h"

namespace psn {

class MessageWriter {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(const T& value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void put(const std::string& text) {
    put(std::uint64_t{text.size()});
    bytes_ += text;
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(std::uint64_t{values.size()});
    for (const T& value : values) put(value);
  }

  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads what a MessageWriter wrote, in the same order; the bytes must outlive it. DataError if they
// end too early.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void get(T& value) { std::memcpy(&value, next(sizeof value).data(), sizeof value); }
  void get(std::string& text) { text = next(get<std::uint64_t>()); }
  template <class T>
  void get(std::vector<T>& values) {
    for (auto n = get<std::uint64_t>(); n > 0; --n) values.push_back(get<T>());
  }
  template <class T>
  T get() {
    T value{};
    get(value);
    return value;
  }

 private:
  std::string_view next(std::size_t count) {
    if (count > bytes_.size()) throw DataError("a message between ranks is too short");
    const std::string_view result = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return result;
  }

  std::string_view bytes_;
};

}  // namespace psn
