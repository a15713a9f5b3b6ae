// Scaling: where an address's values lie, learned while training and saved with the network.
//
// Location and scale are the median and interquartile range of a reservoir of values, so an outlier
// moves neither; one value or zero spread fall back to the simulator's own distribution. They are
// refitted whenever the number of values seen has doubled, never frozen on a first handful; the
// network then changes the weights around them so that no probability changes
// (Network::update_scaling).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "psn/core/distribution.h"

namespace psn {

struct Scaling {
  // Per component; of log x for families on the positive half-line with a log-normal shape.
  std::vector<float> location, scale;
  // Bounds of the support over all distributions seen, for Uniform, TruncatedNormal (low, high) and
  // Binomial (high: the total count).
  double low = 0, high = 0;
  // Uniform: do low and high ever change? If not they are kept exactly.
  bool bounds_vary = false;
};

// Collects values of one address until its scaling is well known.
class ScalingEstimator {
 public:
  // What has been collected, for files.
  struct Data {
    std::vector<std::vector<float>> reservoir;  // per component
    std::vector<float> fallback;                // sd of the first distribution seen, per component
    std::uint64_t count = 0;
    std::uint64_t next_fit = 1;
    double low = 0, high = 0;
    bool bounds_vary = false;
  };
  static constexpr std::size_t kReservoir = 512;
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};  // a fit is no longer needed

  ScalingEstimator() = default;
  explicit ScalingEstimator(Data data) : data_(std::move(data)) {}
  const Data& data() const { return data_; }

  // Takes one value and the distribution it came from.
  void add(const Value& x, const Distribution& p, std::uint64_t random);
  std::uint64_t count() const { return data_.count; }
  // Has the count doubled since the last fit?
  bool due() const { return data_.count >= data_.next_fit; }
  // Fits; `current` provides what cannot be estimated yet.
  Scaling fit(const Scaling& current);

  // Bounds are kept up to date with every value.
  double low() const { return data_.low; }
  double high() const { return data_.high; }
  bool bounds_vary() const { return data_.bounds_vary; }

 private:
  Data data_;
};

// Is the family scaled on log x?
bool scaled_by_logarithm(Family family);

}  // namespace psn
