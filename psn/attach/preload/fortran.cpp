// random_number of gfortran's library, for scalars and arrays of both usual kinds. Array
// descriptors are as libgfortran 5 (gfortran 8 and later) has them.
#include <algorithm>
#include <cstddef>
#include <limits>

#include "psn/attach/preload/runtime.h"

namespace {

using namespace psn::preload;

struct Dimension {
  std::ptrdiff_t stride, low, high;
};
struct Array {
  void* base;
  std::size_t offset;
  std::size_t element;
  int version;
  signed char rank, type;
  short attribute;
  std::ptrdiff_t span;
  Dimension dimensions[15];
};

template <class T>
T narrowed(double u) {
  return std::min(static_cast<T>(u), T{1} - std::numeric_limits<T>::epsilon() / 2);
}

// Element by element in the order of the array, a packet's worth of numbers at a time.
template <class T>
void fill(Array* array) {
  constexpr std::size_t kAtOnce = 2048;
  const int rank = std::clamp<int>(array->rank, 0, 15);
  std::size_t left = 1;
  for (int d = 0; d < rank; ++d) {
    const Dimension& dimension = array->dimensions[d];
    left *=
        static_cast<std::size_t>(std::max<std::ptrdiff_t>(dimension.high - dimension.low + 1, 0));
  }
  std::ptrdiff_t at[15] = {};
  static double numbers[kAtOnce];
  while (left > 0) {
    const std::size_t count = std::min(left, kAtOnce);
    draw(kUniform, {0, 1}, numbers, count);
    for (std::size_t i = 0; i < count; ++i) {
      std::ptrdiff_t place = 0;
      for (int d = 0; d < rank; ++d) place += at[d] * array->dimensions[d].stride;
      static_cast<T*>(array->base)[place] = narrowed<T>(numbers[i]);
      for (int d = 0; d < rank; ++d) {
        const Dimension& dimension = array->dimensions[d];
        if (++at[d] <= dimension.high - dimension.low) break;
        at[d] = 0;
      }
    }
    left -= count;
  }
}

}  // namespace

extern "C" {

PSN_EXPORT void _gfortran_random_r4(float* x) {
  PSN_PASS_ON(_gfortran_random_r4, x);
  *x = narrowed<float>(uniform());
}
PSN_EXPORT void _gfortran_random_r8(double* x) {
  PSN_PASS_ON(_gfortran_random_r8, x);
  *x = uniform();
}
PSN_EXPORT void _gfortran_arandom_r4(Array* x) {
  PSN_PASS_ON(_gfortran_arandom_r4, x);
  fill<float>(x);
}
PSN_EXPORT void _gfortran_arandom_r8(Array* x) {
  PSN_PASS_ON(_gfortran_arandom_r8, x);
  fill<double>(x);
}

}  // extern "C"
