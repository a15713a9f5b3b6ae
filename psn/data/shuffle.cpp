#include "psn/data/shuffle.h"

#include <algorithm>
#include <bit>

namespace psn::data {
namespace {

// A finalizer that spreads every bit over all others.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93;
  return x ^ (x >> 32);
}

std::uint64_t combine(std::uint64_t a, std::uint64_t b) {
  return mix(a + 0x9e3779b97f4a7c15 * (b + 1));
}

}  // namespace

Permutation::Permutation(std::uint64_t size, std::uint64_t key) : size_(size), key_(key) {
  half_ = (static_cast<unsigned>(std::bit_width(std::max<std::uint64_t>(1, size) - 1)) + 1) / 2;
}

std::uint64_t Permutation::operator()(std::uint64_t i) const {
  constexpr unsigned kRounds = 6;
  const std::uint64_t mask = (std::uint64_t{1} << half_) - 1;
  do {
    std::uint64_t left = i >> half_, right = i & mask;
    for (unsigned round = 0; round < kRounds; ++round) {
      const std::uint64_t next = left ^ (combine(key_ + round, right) & mask);
      left = right;
      right = next;
    }
    i = left << half_ | right;
  } while (i >= size_);
  return i;
}

EpochOrder::EpochOrder(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch)
    : size_(size), key_(combine(mix(seed), epoch)), runs_(size / kRun, key_) {}

std::uint64_t EpochOrder::operator()(std::uint64_t place) const {
  const std::uint64_t window = place / kWindow, begin = window * kWindow;
  const Permutation within(std::min(kWindow, size_ - begin), combine(key_, window));
  const std::uint64_t at = begin + within(place - begin);
  const std::uint64_t run = at / kRun;
  // The last run is not whole and stays where it is.
  return run < size_ / kRun ? runs_(run) * kRun + at % kRun : at;
}

}  // namespace psn::data
