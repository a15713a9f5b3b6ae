// Orders in which traces are read: computed place by place, so that no list of them is ever held.
#pragma once

#include <cstdint>

namespace psn::data {

// A permutation of {0, ..., size - 1} that looks random and depends on size and key only: a Feistel
// network on the next even number of bits, walked until it is back inside.
class Permutation {
 public:
  Permutation(std::uint64_t size, std::uint64_t key);
  std::uint64_t operator()(std::uint64_t i) const;

 private:
  std::uint64_t size_, key_;
  unsigned half_ = 0;  // bits
};

// The order of an epoch. Runs of consecutive traces are shuffled among each other, and traces
// within a window of several runs: what is read at a time lies in few places of the disk, and each
// batch comes from all of them.
class EpochOrder {
 public:
  static constexpr std::uint64_t kRun = 1024;
  static constexpr std::uint64_t kWindow = 16 * kRun;

  EpochOrder(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch);
  std::uint64_t operator()(std::uint64_t place) const;

 private:
  std::uint64_t size_, key_;
  Permutation runs_;
};

// Every 20th trace is held out, the others are for training: a store that grows moves none from one
// side to the other.
struct Split {
  static constexpr std::uint64_t kEvery = 20;
  static std::uint64_t held_out_count(std::uint64_t size) { return size / kEvery; }
  static std::uint64_t training_count(std::uint64_t size) { return size - held_out_count(size); }
  // The nth of either side.
  static std::uint64_t held_out(std::uint64_t n) { return n * kEvery + kEvery - 1; }
  static std::uint64_t training(std::uint64_t n) { return n + n / (kEvery - 1); }
};

}  // namespace psn::data
