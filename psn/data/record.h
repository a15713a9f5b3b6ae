// Records of a store as bytes: a FlatBuffer behind a checksum. What is read is checked before it is
// used: checksum, then FlatBuffers' verifier, then what the schema cannot say.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "psn/base/error.h"
#include "psn/core/value.h"

namespace psn::data {

// The tables of a store, and the traces inside blocks. Part of the checksum, like the key: a record
// in the wrong place is damage.
enum class TableId : std::uint8_t { kHeader, kAddresses, kForms, kBlocks, kTraces };
struct Place {
  TableId table;
  std::uint64_t key;
};

constexpr std::size_t kSealBytes = 8;  // a multiple of the alignment that FlatBuffers need

// Puts the checksum of `payload` in front of it.
void append_sealed(std::string& out, std::string_view payload, Place place);
std::string sealed(std::string_view payload, Place place);
// The payload; throws DataError if the checksum does not match.
std::string_view unsealed(std::string_view bytes, Place place);

template <class T>
const T& parsed(std::string_view payload) {
  constexpr std::size_t kMaxDepth = 16, kMaxTables = 1'000'000;
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(payload.data()),
                                 payload.size(), kMaxDepth, kMaxTables);
  if (!verifier.VerifyBuffer<T>(nullptr)) {
    throw DataError("not a record of its kind, or nested too deeply, or of too many parts");
  }
  return *flatbuffers::GetRoot<T>(payload.data());
}

inline std::string_view finished(flatbuffers::FlatBufferBuilder& builder) {
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

// Printable text of bounded length; "" for none.
std::string text_of(const flatbuffers::String* text);

}  // namespace psn::data
