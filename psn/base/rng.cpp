#include "psn/base/rng.h"

#include <cmath>

#include "psn/base/numerics.h"

namespace psn {

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
  constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

void Rng::refill() {
  const auto words =
      philox({block_++, substream_, static_cast<std::uint32_t>(stream_),
              static_cast<std::uint32_t>(stream_ >> 32)},
             {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)});
  buffer_ = {words[0] | static_cast<std::uint64_t>(words[1]) << 32,
             words[2] | static_cast<std::uint64_t>(words[3]) << 32};
  position_ = 0;
}

double Rng::normal() {
  return normal_quantile(uniform());
}

void Rng::normals(std::span<double> values) {
  for (double& value : values) value = uniform();
  normal_quantiles(values);
}

double Rng::exponential() {
  return -std::log(uniform());
}

}  // namespace psn
