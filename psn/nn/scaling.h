// Scaling: where an address's values lie, learned while training and saved with the network.
//
// Location and scale are the median and interquartile range of a reservoir of values, so an outlier
// moves neither; one value or zero spread fall back to the simulator's own distribution. They are
// refitted whenever the number of values seen has doubled, never frozen on a first handful; the
// network then changes the weights around them so that no probability changes
// (Network::set_scaling).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "psn/core/distribution.h"

namespace psn {

struct Scaling {
  // Per component; of log x for families that are declared so (FamilyInfo::logarithmic).
  std::vector<float> location, scale;
  // Bounds of the support over all distributions seen, for families with such parameters.
  double low = 0, high = 0;
  // Uniform: do low and high ever change? If not they are kept exactly.
  bool bounds_vary = false;
};

// Where the supports of some distributions begin and end.
struct Bounds {
  double low = 0, high = 0;
  bool vary = false;  // from one distribution to another

  void include(const Bounds& other);
  bool operator==(const Bounds&) const = default;
};
Bounds bounds_of(const Distribution& p);  // zeros for families without such parameters

// What some values of one address tell of its scaling, in their order.
struct Measurements {
  std::uint64_t count = 0;
  std::vector<float> values;  // by value and component; of log x where that is scaled
  std::vector<float> spread;  // by component: standard deviation of the first distribution
  std::optional<Bounds> bounds;

  Measurements() = default;
  Measurements(const Value& x, const Distribution& p) { add(x, p); }
  void add(const Value& x, const Distribution& p);
  void add(const Bounds& more);
};

// Collects values of one address until its scaling is well known.
class ScalingEstimator {
 public:
  static constexpr std::size_t kReservoir = 512;
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  // What has been collected, for files.
  struct Data {
    std::vector<std::vector<float>> reservoir;  // per component
    std::vector<float> fallback;                // sd of the first distribution seen, per component
    std::uint64_t count = 0;
    std::uint64_t next_fit = 1;
    Bounds bounds;
  };

  ScalingEstimator() = default;
  explicit ScalingEstimator(Data data) : data_(std::move(data)) {}
  const Data& data() const { return data_; }

  // `key` is the address's own: which values are kept depends on it and on their order only.
  void add(const Measurements& more, std::uint64_t key);
  std::uint64_t count() const { return data_.count; }
  // Has the count doubled since the last fit?
  bool due() const { return data_.count >= data_.next_fit; }
  // No further value would change anything; bounds still do.
  bool complete() const { return data_.next_fit == kNever; }
  // Fits; `current` provides what cannot be estimated yet.
  Scaling fit(const Scaling& current);

  // Bounds are kept up to date with every value.
  const Bounds& bounds() const { return data_.bounds; }

 private:
  Data data_;
};

}  // namespace psn
