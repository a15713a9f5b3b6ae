// Adam's two passes over parameters (Google Highway, for the best instructions the machine has).
#pragma once

#include <cstddef>

namespace psn::kernels {

// The same on every machine, to the bit.
double sum_of_squares(std::size_t n, const float* x);

struct AdamCoefficients {
  float beta1, beta2, rate, correction2, epsilon, clip;
};
void adam_step(std::size_t n, float* value, const float* gradient, float* first, float* second,
               const AdamCoefficients& coefficients);

}  // namespace psn::kernels
