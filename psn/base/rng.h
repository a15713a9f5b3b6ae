// Counter-based random numbers (Philox 4x32-10; Salmon et al., SC 2011).
//
// A generator is a pure function of (seed, stream, substream, position). Every trace draws from the
// stream of its own index, so what it draws depends neither on the number of threads nor on how
// many simulations run side by side. What is drawn for different purposes differs, too: data taken
// from a forward run with some seed must not be the very draws of the inference that they are for.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace psn {

// What random numbers are for. Training and its held-out traces have substreams of their own
// instead (psn/train), and keep the bare seed as inference does: stores and checkpoints go on with
// it.
enum class DrawsFor : std::uint64_t {
  kInference,
  kSimulation,
  kGraph,
  kCorrection,
  kSurvey,
  kPrediction,
};

// A seed of its own for each purpose of the same seed.
constexpr std::uint64_t seed_for(DrawsFor purpose, std::uint64_t seed) {
  return seed ^ static_cast<std::uint64_t>(purpose) * 0xD1342543DE82EF95;
}

class Rng {
 public:
  // `stream` is the index of a trace (or iteration), `substream` tells apart uses of the same
  // index, such as several chains.
  explicit Rng(std::uint64_t seed = 0, std::uint64_t stream = 0, std::uint32_t substream = 0)
      : seed_(seed), stream_(stream), substream_(substream) {}

  // An independent generator for another purpose of the same stream and substream, at its
  // beginning.
  Rng fork(std::uint64_t purpose) const {
    return Rng(seed_ ^ (purpose + 1) * 0x9E3779B97F4A7C15, stream_, substream_);
  }

  // How many words bits() has given, and a generator that has given as many.
  std::uint64_t position() const { return 2 * std::uint64_t{block_} + position_ - 2; }
  void move_to(std::uint64_t position) {
    block_ = static_cast<std::uint32_t>(position / 2);
    position_ = 2;
    if (position % 2 == 1) bits();
  }

  // 64 random bits.
  std::uint64_t bits() {
    if (position_ == 2) refill();
    return buffer_[position_++];
  }

  // Uniform on the open interval (0, 1): a multiple of 2^-52 plus 2^-53.
  double uniform() { return (static_cast<double>(bits() >> 12) + 0.5) * 0x1p-52; }

  // Uniform on {0, ..., n - 1}, without bias; n > 0.
  std::uint64_t below(std::uint64_t n) {
    unsigned __int128 product = static_cast<unsigned __int128>(bits()) * n;
    if (static_cast<std::uint64_t>(product) < n) {
      const std::uint64_t threshold = -n % n;
      while (static_cast<std::uint64_t>(product) < threshold) {
        product = static_cast<unsigned __int128>(bits()) * n;
      }
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  // Standard normal, by inversion: one uniform a draw.
  double normal();
  // The next so many normals at once; the same as one by one.
  void normals(std::span<double> values);

  // Standard exponential.
  double exponential();

 private:
  void refill();

  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint32_t substream_;
  std::uint32_t block_ = 0;
  std::array<std::uint64_t, 2> buffer_{};
  std::uint32_t position_ = 2;
};

// One Philox 4x32-10 block, exposed so that a test can hold it against the published vectors.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key);

}  // namespace psn
