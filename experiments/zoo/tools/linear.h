// Dense matrices of a few rows, for references.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "psn/base/rng.h"

namespace psn::zoo {

class Matrix {
 public:
  Matrix(std::size_t rows, std::size_t columns) : columns_(columns), values_(rows * columns) {}
  static Matrix diagonal(std::span<const double> values);

  double& operator()(std::size_t i, std::size_t j) { return values_[i * columns_ + j]; }
  double operator()(std::size_t i, std::size_t j) const { return values_[i * columns_ + j]; }
  std::size_t columns() const { return columns_; }
  std::size_t rows() const { return values_.size() / columns_; }

  Matrix operator*(const Matrix& other) const;
  std::vector<double> operator*(std::span<const double> x) const;
  Matrix transposed() const;

 private:
  std::size_t columns_;
  std::vector<double> values_;
};

Matrix sum(const Matrix& a, const Matrix& b, double factor = 1);  // a + factor b

// The lower triangle whose square is this positive definite matrix; throws InvalidArgument.
Matrix cholesky(const Matrix& a);

// Nodes and weights of Gauss and Legendre's rule on an interval.
struct Rule {
  std::vector<double> nodes, weights;
};
Rule gauss_legendre(std::size_t n, double low, double high);

}  // namespace psn::zoo
