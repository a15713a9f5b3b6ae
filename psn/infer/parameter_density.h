// A density over a few latents of a program, fitted to draws of them, to propose from: kernels
// around the draws, over the logarithm of what is positive, the log odds of what is bounded; whole
// numbers and categories are kernels, too.
#pragma once

#include <span>
#include <vector>

#include "psn/base/rng.h"
#include "psn/core/distribution.h"

namespace psn {

// Immutable once made: any thread may use it.
class ParameterDensity {
 public:
  // `draws`: of equal weight, one at least, each with a value for every prior, which says what is
  // bounded. Throws InvalidArgument for components that hang together on a simplex.
  ParameterDensity(std::span<const Distribution> priors,
                   const std::vector<std::vector<Value>>& draws);

  std::vector<Value> draw(Rng& rng) const;
  double log_density(std::span<const Value> at) const;

 private:
  enum class Kind { kReal, kPositive, kBounded, kWhole, kCategory };
  struct Coordinate {
    Kind kind;
    double low = 0, high = 0;
    double width = 1;  // of the kernel of whole numbers
  };
  double forward(const Coordinate& c, double x, double* log_volume) const;
  double back(const Coordinate& c, double u) const;
  double log_kernel(const std::vector<double>& centre, const std::vector<double>& u) const;
  void fit_kernel();

  std::vector<Coordinate> coordinates_;
  std::vector<Shape> shapes_;
  std::vector<std::size_t> real_;             // coordinates of the joint normal kernel
  std::vector<std::vector<double>> centres_;  // in coordinates
  std::vector<double> lower_;                 // Cholesky's factor of that kernel's covariance
};

}  // namespace psn
