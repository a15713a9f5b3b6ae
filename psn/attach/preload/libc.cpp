// rand(), random() and the drand48 family.
#include <cstdlib>

#include "psn/attach/preload/runtime.h"

namespace {

using namespace psn::preload;

constexpr double kTwo31 = 2147483648.0;

long whole31() {
  return static_cast<long>(uniform_below(kTwo31));
}
long signed32() {
  return static_cast<long>(uniform_below(2 * kTwo31) - kTwo31);
}

}  // namespace

extern "C" {

PSN_EXPORT int rand() noexcept {
  PSN_PASS_ON(rand);
  return static_cast<int>(whole31());
}
PSN_EXPORT int rand_r(unsigned* seed) noexcept {
  PSN_PASS_ON(rand_r, seed);
  return static_cast<int>(whole31());
}
PSN_EXPORT long random() noexcept {
  PSN_PASS_ON(random);
  return whole31();
}
PSN_EXPORT int random_r(random_data* state, int32_t* result) noexcept {
  PSN_PASS_ON(random_r, state, result);
  *result = static_cast<int32_t>(whole31());
  return 0;
}
PSN_EXPORT double drand48() noexcept {
  PSN_PASS_ON(drand48);
  return uniform();
}
PSN_EXPORT double erand48(unsigned short state[3]) noexcept {
  PSN_PASS_ON(erand48, state);
  return uniform();
}
PSN_EXPORT long lrand48() noexcept {
  PSN_PASS_ON(lrand48);
  return whole31();
}
PSN_EXPORT long nrand48(unsigned short state[3]) noexcept {
  PSN_PASS_ON(nrand48, state);
  return whole31();
}
PSN_EXPORT long mrand48() noexcept {
  PSN_PASS_ON(mrand48);
  return signed32();
}
PSN_EXPORT long jrand48(unsigned short state[3]) noexcept {
  PSN_PASS_ON(jrand48, state);
  return signed32();
}

}  // extern "C"
