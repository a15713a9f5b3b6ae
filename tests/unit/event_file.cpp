// Event files: the checksums that others compute, and what a reader of the format finds.
#include "psn/io/event_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "psn/base/error.h"
#include "psn/io/atomic_file.h"
#include "psn/io/crc.h"

namespace psn {
namespace {

// A reader of protocol buffers' fields.
struct Field {
  std::uint64_t number, varint = 0;
  std::string_view bytes;  // of the others
};

std::uint64_t read_varint(std::string_view& in) {
  std::uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(in.at(0));
    in.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
}

std::vector<Field> fields(std::string_view in) {
  std::vector<Field> result;
  while (!in.empty()) {
    const std::uint64_t tag = read_varint(in);
    Field field{tag >> 3};
    if (tag % 8 == 0) {
      field.varint = read_varint(in);
    } else {
      const std::size_t size = tag % 8 == 1 ? 8 : tag % 8 == 5 ? 4 : read_varint(in);
      field.bytes = in.substr(0, size);
      in.remove_prefix(size);
    }
    result.push_back(field);
  }
  return result;
}

template <class T>
T as(std::string_view bytes) {
  T value;
  EXPECT_GE(bytes.size(), sizeof value);
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

TEST(EventFile, ChecksumsAreThoseOfTheStandard) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  // How every event file begins: an event of 24 bytes, and the masked checksum of that length.
  const std::string record = event_record(std::string(24, 'x'));
  EXPECT_EQ(record.substr(0, 12), std::string("\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22", 12));
  EXPECT_EQ(record.size(), 8 + 4 + 24 + 4u);
}

TEST(EventFile, AScalarIsTheseBytes) {
  EXPECT_EQ(scalar_event(1.0, 300, {{"a", 0.5}}),
            std::string("\x09\0\0\0\0\0\0\xf0\x3f"  // 1: time, a double
                        "\x10\xac\x02"              // 2: step
                        "\x2a\x0a"                  // 5: summary, 10 bytes
                        "\x0a\x08"                  // 1: value, 8 bytes
                        "\x0a\x01"
                        "a"  // 1: name
                        "\x15\0\0\0\x3f",
                        24));  // 2: a float
}

TEST(EventFile, IsReadBack) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("psn_events_" + std::to_string(::getpid())))
          .string();
  {
    EventFile file(path, 7);
    file.add(50, {{"loss", 1.5}, {"validation/kl", -2.25}});
    file.add(100'000, {{"loss", 0.25}});
  }
  const std::string bytes = read_file(path);
  std::string_view in = bytes;
  std::vector<std::vector<Field>> events;
  while (!in.empty()) {
    const auto size = as<std::uint64_t>(in);
    const std::string_view event = in.substr(12, size);
    EXPECT_EQ(event_record(event), in.substr(0, 16 + size));
    events.push_back(fields(event));
    in.remove_prefix(16 + size);
  }
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0][1].number, 3u);
  EXPECT_EQ(events[0][1].bytes, "brain.Event:2");
  EXPECT_EQ(events[1][1].varint, 7u);
  EXPECT_EQ(events[1][2].number, 7u);
  EXPECT_EQ(fields(events[1][2].bytes)[0].varint, 1u);
  EXPECT_GT(as<double>(events[2][0].bytes), 1.7e9);
  EXPECT_EQ(events[2][1].varint, 50u);
  EXPECT_EQ(events[3][1].varint, 100'000u);
  const auto values = fields(events[2][2].bytes);
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(fields(values[1].bytes)[0].bytes, "validation/kl");
  EXPECT_EQ(as<float>(fields(values[1].bytes)[1].bytes), -2.25f);
  std::filesystem::remove(path);
  EXPECT_THROW(EventFile("/nowhere/events", 0), DataError);
}

}  // namespace
}  // namespace psn
