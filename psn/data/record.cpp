#include "psn/data/record.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <bit>
#include <cstring>

#include "psn/base/text.h"

namespace psn::data {
namespace {

static_assert(std::endian::native == std::endian::little, "stores are little-endian");

std::uint64_t checksum(std::string_view payload, Place place) {
  const std::uint64_t seed = place.key ^ static_cast<std::uint64_t>(place.table) << 56;
  return XXH3_64bits_withSeed(payload.data(), payload.size(), seed);
}

}  // namespace

void append_sealed(std::string& out, std::string_view payload, Place place) {
  const std::uint64_t sum = checksum(payload, place);
  out.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  out.append(payload);
}

std::string sealed(std::string_view payload, Place place) {
  std::string bytes;
  append_sealed(bytes, payload, place);
  return bytes;
}

std::string_view unsealed(std::string_view bytes, Place place) {
  if (bytes.size() < kSealBytes) throw DataError("a record that is cut short");
  std::uint64_t sum = 0;
  std::memcpy(&sum, bytes.data(), sizeof sum);
  const std::string_view payload = bytes.substr(kSealBytes);
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION  // a fuzzer would never get any further
  if (checksum(payload, place) != sum) throw DataError("its checksum does not match");
#endif
  return payload;
}

std::string text_of(const flatbuffers::String* text) {
  constexpr std::size_t kMaxBytes = 1 << 16;
  if (!text) return "";
  if (text->size() > kMaxBytes) {
    throw DataError(fmt::format("a text of {} bytes; {} at most", text->size(), kMaxBytes));
  }
  if (!is_printable(text->string_view())) throw DataError("a text that is not printable");
  return text->str();
}

}  // namespace psn::data
