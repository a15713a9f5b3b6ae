// Checksums that formats of others want. Bits of a polynomial are in reverse order.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace psn {

template <std::uint32_t polynomial>
std::uint32_t cyclic_checksum(std::string_view bytes) {
  static constexpr auto kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
      table[i] = i;
      for (int bit = 0; bit < 8; ++bit) table[i] = table[i] >> 1 ^ (table[i] & 1 ? polynomial : 0);
    }
    return table;
  }();
  std::uint32_t sum = ~0u;
  for (const char byte : bytes) {
    sum = sum >> 8 ^ kTable[(sum ^ static_cast<unsigned char>(byte)) & 0xff];
  }
  return ~sum;
}

inline constexpr auto crc32 = cyclic_checksum<0xedb88320>;   // zip
inline constexpr auto crc32c = cyclic_checksum<0x82f63b78>;  // event files

}  // namespace psn
