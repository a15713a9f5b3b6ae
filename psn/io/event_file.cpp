#include "psn/io/event_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "psn/base/error.h"
#include "psn/io/crc.h"

namespace psn {
namespace {

template <class T>
void append(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

// Fields of a protocol buffer: a number and how its value is written, then the value.
enum class Wire : std::uint8_t { kVarint = 0, kEight = 1, kBytes = 2, kFour = 5 };
void append_tag(std::string& out, unsigned field, Wire wire) {
  append_varint(out, field << 3 | static_cast<unsigned>(wire));
}
void append_bytes(std::string& out, unsigned field, std::string_view bytes) {
  append_tag(out, field, Wire::kBytes);
  append_varint(out, bytes.size());
  out += bytes;
}

// Numbers of fields, by message.
constexpr unsigned kTime = 1, kStep = 2, kVersion = 3, kSummary = 5, kSession = 7;  // Event
constexpr unsigned kValue = 1;                                                      // Summary
constexpr unsigned kName = 1, kSimpleValue = 2;                                     // Value
constexpr unsigned kStatus = 1, kStart = 1;  // SessionLog, and one of its statuses

std::string begin_event(double time, std::int64_t step) {
  std::string event;
  append_tag(event, kTime, Wire::kEight);
  append(event, time);
  if (step != 0) {
    append_tag(event, kStep, Wire::kVarint);
    append_varint(event, static_cast<std::uint64_t>(step));
  }
  return event;
}

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// So that the checksum of bytes that have checksums within is not a special one.
std::uint32_t masked(std::uint32_t crc) {
  return (crc >> 15 | crc << 17) + 0xa282ead8;
}

}  // namespace

std::string event_record(std::string_view event) {
  std::string record;
  append(record, static_cast<std::uint64_t>(event.size()));
  append(record, masked(crc32c(record)));
  record += event;
  append(record, masked(crc32c(event)));
  return record;
}

std::string scalar_event(double time, std::int64_t step, const Scalars& scalars) {
  std::string summary;
  for (const auto& [name, number] : scalars) {
    std::string value;
    append_bytes(value, kName, name);
    append_tag(value, kSimpleValue, Wire::kFour);
    append(value, static_cast<float>(number));
    append_bytes(summary, kValue, value);
  }
  std::string event = begin_event(time, step);
  append_bytes(event, kSummary, summary);
  return event;
}

EventFile::EventFile(std::string path, std::int64_t first_step)
    : path_(std::move(path)), out_(path_, std::ios::binary) {
  std::string version = begin_event(now(), 0);
  append_bytes(version, kVersion, "brain.Event:2");
  write(version);
  std::string session, status;
  append_tag(status, kStatus, Wire::kVarint);
  append_varint(status, kStart);
  session = begin_event(now(), first_step);
  append_bytes(session, kSession, status);
  write(session);
}

void EventFile::add(std::int64_t step, const Scalars& scalars) {
  write(scalar_event(now(), step, scalars));
}

void EventFile::write(std::string_view event) {
  const std::string record = event_record(event);
  out_.write(record.data(), static_cast<std::streamsize>(record.size()));
  out_.flush();
  if (!out_) throw DataError(fmt::format("cannot write '{}': {}", path_, std::strerror(errno)));
}

}  // namespace psn
