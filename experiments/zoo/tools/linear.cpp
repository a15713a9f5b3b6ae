#include "experiments/zoo/tools/linear.h"

#include <cmath>

#include "psn/base/error.h"

namespace psn::zoo {

Matrix Matrix::diagonal(std::span<const double> values) {
  Matrix result(values.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) result(i, i) = values[i];
  return result;
}

Matrix Matrix::operator*(const Matrix& other) const {
  Matrix result(rows(), other.columns());
  for (std::size_t i = 0; i < rows(); ++i) {
    for (std::size_t k = 0; k < columns_; ++k) {
      for (std::size_t j = 0; j < other.columns(); ++j) {
        result(i, j) += (*this)(i, k) * other(k, j);
      }
    }
  }
  return result;
}

std::vector<double> Matrix::operator*(std::span<const double> x) const {
  std::vector<double> result(rows());
  for (std::size_t i = 0; i < rows(); ++i) {
    for (std::size_t j = 0; j < columns_; ++j) result[i] += (*this)(i, j) * x[j];
  }
  return result;
}

Matrix Matrix::transposed() const {
  Matrix result(columns_, rows());
  for (std::size_t i = 0; i < rows(); ++i) {
    for (std::size_t j = 0; j < columns_; ++j) result(j, i) = (*this)(i, j);
  }
  return result;
}

Matrix sum(const Matrix& a, const Matrix& b, double factor) {
  Matrix result = a;
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < a.columns(); ++j) result(i, j) += factor * b(i, j);
  }
  return result;
}

Matrix cholesky(const Matrix& a) {
  Matrix l(a.rows(), a.rows());
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = a(i, j);
      for (std::size_t k = 0; k < j; ++k) rest -= l(i, k) * l(j, k);
      if (i == j && !(rest > 0)) throw InvalidArgument("the matrix is not positive definite");
      l(i, j) = i == j ? std::sqrt(rest) : rest / l(j, j);
    }
  }
  return l;
}

Rule gauss_legendre(std::size_t n, double low, double high) {
  Rule rule{std::vector<double>(n), std::vector<double>(n)};
  const auto count = static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) {
    // Newton's method from Tricomi's guess; the polynomials by their recurrence.
    double x = std::cos(M_PI * (static_cast<double>(i) + 0.75) / (count + 0.5)), slope = 0;
    for (int iteration = 0; iteration < 10; ++iteration) {
      double before = 0, now = 1;
      for (std::size_t k = 0; k < n; ++k) {
        const auto d = static_cast<double>(k);
        const double next = ((2 * d + 1) * x * now - d * before) / (d + 1);
        before = now;
        now = next;
      }
      slope = count * (x * now - before) / (x * x - 1);
      x -= now / slope;
    }
    rule.nodes[i] = (low + high) / 2 - (high - low) / 2 * x;
    rule.weights[i] = (high - low) / ((1 - x * x) * slope * slope);
  }
  return rule;
}

}  // namespace psn::zoo
