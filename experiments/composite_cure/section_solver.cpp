// The linear equations of a cross-section: conjugate gradients, preconditioned column by column.
// Loops run along rows, where neighbours in memory are independent of each other.
#include <cmath>

#include "experiments/composite_cure/section.h"
#include "psn/base/vectorize.h"

namespace psn::composite_cure {
namespace {

// One row of the Jacobian times a vector, but for the row's own left neighbours.
PSN_VECTORIZE void multiply_row(std::size_t n, const double* diagonal, const double* in,
                                double* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = diagonal[i] * in[i];
}

// out -= g * in
PSN_VECTORIZE void subtract_product(std::size_t n, const double* g, const double* in, double* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] -= g[i] * in[i];
}

PSN_VECTORIZE void add_product(std::size_t n, const double* g, const double* in, double* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] += g[i] * in[i];
}

PSN_VECTORIZE double dot(std::size_t n, const double* a, const double* b) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// y += a x
PSN_VECTORIZE void add_scaled(std::size_t n, double a, const double* x, double* y) {
  for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
}

// y = x + a y
PSN_VECTORIZE void scale_and_add(std::size_t n, double a, const double* x, double* y) {
  for (std::size_t i = 0; i < n; ++i) y[i] = x[i] + a * y[i];
}

// pivot = 1 / (diagonal - g^2 pivot below)
PSN_VECTORIZE void eliminate(std::size_t n, const double* diagonal, const double* g,
                             const double* below, double* pivot) {
  for (std::size_t i = 0; i < n; ++i) pivot[i] = 1 / (diagonal[i] - g[i] * g[i] * below[i]);
}

}  // namespace

void Section::factorise() {
  for (std::size_t r = 0; r < rows(); ++r) {
    const std::size_t at = r * stride_, below = r ? at - stride_ : at;
    if (r == 0) {
      for (std::size_t i = 0; i < stride_; ++i) pivot_[i] = 1 / diagonal_[i];
    } else {
      eliminate(columns(r), &diagonal_[at], &across_[below], &pivot_[below], &pivot_[at]);
    }
  }
}

// Each column's tridiagonal equations, all columns at once.
void Section::precondition(const Field& in, Field& out) const {
  for (std::size_t r = 0; r < rows(); ++r) {
    const std::size_t at = r * stride_, n = columns(r);
    double* row = &out[at];
    for (std::size_t i = 0; i < n; ++i) row[i] = in[at + i];
    if (r > 0) add_product(n, &across_[at - stride_], &out[at - stride_], row);
    multiply_row(n, &pivot_[at], row, row);
  }
  for (std::size_t r = rows() - 1; r-- > 0;) {
    const std::size_t at = r * stride_, n = columns(r + 1);
    for (std::size_t i = 0; i < n; ++i) {
      out[at + i] += pivot_[at + i] * across_[at + i] * out[at + stride_ + i];
    }
  }
}

double Section::apply(const Field& in, Field& out) const {
  double product = 0;
  for (std::size_t r = 0; r < rows(); ++r) {
    const std::size_t at = r * stride_, n = columns(r);
    double* row = &out[at];
    multiply_row(n, &diagonal_[at], &in[at], row);
    subtract_product(n - 1, &along_[at], &in[at + 1], row);
    subtract_product(n - 1, &along_[at], &in[at], row + 1);
    if (r > 0) subtract_product(n, &across_[at - stride_], &in[at - stride_], row);
    if (r + 1 < rows()) subtract_product(columns(r + 1), &across_[at], &in[at + stride_], row);
    product += dot(n, row, &in[at]);
  }
  return product;
}

// change = -J^-1 residual, until the residual is this small beside the first one: an error of a
// thousandth of the change, which Newton's method leaves below 1e-4 C.
void Section::solve() {
  constexpr double kTolerance = 1e-3;
  constexpr int kMost = 500;
  const std::size_t n = change_.size();
  factorise();
  std::fill(change_.begin(), change_.end(), 0.0);
  for (double& r : residual_) r = -r;
  precondition(residual_, preconditioned_);
  direction_ = preconditioned_;
  double size = dot(n, residual_.data(), preconditioned_.data());
  const double enough = kTolerance * kTolerance * size;
  for (int k = 0; k < kMost && size > enough; ++k) {
    const double length = size / apply(direction_, image_);
    add_scaled(n, length, direction_.data(), change_.data());
    add_scaled(n, -length, image_.data(), residual_.data());
    precondition(residual_, preconditioned_);
    const double next = dot(n, residual_.data(), preconditioned_.data());
    scale_and_add(n, next / size, preconditioned_.data(), direction_.data());
    size = next;
  }
}

}  // namespace psn::composite_cure
