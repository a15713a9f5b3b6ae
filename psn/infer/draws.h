// Draws: the latents of some samples of a posterior, by address, to run the program on again.
//
// A posterior may have more samples than can be kept whole. Each is given a rank, an exponential
// variable with its weight as the rate, and those of the smallest ranks are kept, as many as there
// is room for. With t the smallest rank that was left out, a sample of weight w was kept with
// probability p = 1 - exp(-w t), and weighted by w / p it stands for those that were not: whatever
// is estimated from the kept ones is unbiased (priority sampling; Duffield, Lund and Thorup 2007).
// Ranks follow from seed and number of a sample, so neither threads nor ranks change what is kept.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "psn/base/numerics.h"
#include "psn/core/trace.h"

namespace psn {

class Draws {
 public:
  struct Limits {
    std::size_t draws = 10'000;
    std::size_t numbers = std::size_t{1} << 23;  // of all values together: 64 MB
  };
  // One latent's value in a draw.
  struct Latent {
    std::uint32_t site;  // see sites()
    Value value;
  };
  struct Draw {
    std::uint64_t sample = 0;
    double log_weight = 0;
    std::vector<Latent> latents;  // in the order of the trace
  };

  explicit Draws(std::uint64_t seed) : Draws(seed, Limits()) {}
  Draws(std::uint64_t seed, Limits limits) : seed_(seed), limits_(limits) {}
  Draws(Draws&& other) noexcept;  // while no thread offers

  // From any thread; each sample once.
  void offer(std::uint64_t sample, const Trace& trace, double log_weight);
  // What others kept of their samples, with the same seed and limits.
  void merge(const Draws& more);
  // What was kept before a break of those samples (in ascending order) that are not offered again.
  void restore(const Draws& before, const std::vector<std::uint64_t>& samples);

  // In the order of the samples, with the weights they have among the kept ones.
  std::vector<Draw> kept() const;
  // Addresses of latents, by number.
  const std::vector<std::string>& sites() const { return sites_; }

  // docs/formats/draws.md. Reading throws DataError; writing may be done while others offer.
  std::string serialize() const;
  static Draws parse(const std::string& bytes, const std::string& label);

 private:
  double log_rank(std::uint64_t sample, double log_weight) const;
  std::uint32_t site(const std::string& address);
  void keep(double log_rank, Draw draw);

  std::uint64_t seed_;
  Limits limits_;
  mutable std::mutex mutex_;
  std::multimap<double, Draw> by_rank_;
  double log_threshold_ = kInfinity;  // the smallest rank that was left out
  std::size_t numbers_ = 0;
  std::vector<std::string> sites_;
  std::unordered_map<std::string, std::uint32_t> number_of_;
};

}  // namespace psn
