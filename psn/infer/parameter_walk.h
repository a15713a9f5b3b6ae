// A random walk over several latents of a program at once: over the logarithm of what is positive,
// in whole steps where values are whole, to any other category. Steps follow the covariance of
// where the chain has been, and adapt to a rate of acceptance (Haario, Saksman and Tamminen 2001;
// Andrieu and Thoms 2008), as long as they are told to.
#pragma once

#include <span>
#include <vector>

#include "psn/base/rng.h"
#include "psn/core/distribution.h"

namespace psn {

// Not thread-safe.
class ParameterWalk {
 public:
  ParameterWalk() = default;
  // Of values with these distributions. Throws InvalidArgument for one whose components hang
  // together on a simplex; names[i] is what it says.
  ParameterWalk(std::span<const Distribution> priors, std::span<const std::string> names);
  // As numbers() told.
  explicit ParameterWalk(std::span<const double> numbers);

  bool empty() const { return coordinates_.empty(); }

  struct Step {
    std::vector<Value> to;
    double log_ratio = 0;  // log q(from | to) / q(to | from)
  };
  // log density of the values under the priors that it was made with, these taken as independent of
  // each other and of all else; a finite number also where they cannot be.
  double log_prior(std::span<const Value> at) const;
  Step propose(std::span<const Value> from, Rng& rng) const;
  // A step was accepted with this probability, and the chain is there now.
  void adapt(double acceptance, std::span<const Value> at);
  std::vector<double> numbers() const;

 private:
  enum class Kind { kReal, kPositive, kWhole, kCategory };
  struct Coordinate {  // a component
    Kind kind;
    double low = 0, high = 0;  // of categories
    double scale = 1;          // at first
  };
  std::vector<double> walking(std::span<const double> components) const;
  std::vector<double> factor() const;  // of the covariance; row-major

  std::vector<Distribution> priors_;
  double least_prior_ = 0;
  std::vector<Coordinate> coordinates_;
  std::vector<std::size_t> walking_;  // those that are no categories
  double log_scale_ = 0, updates_ = 0;
  std::vector<double> mean_, covariance_;
};

}  // namespace psn
