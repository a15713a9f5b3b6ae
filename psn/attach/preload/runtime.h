// What the functions that are put in front of others' have in common. This library is loaded into
// programs of other people, in C and Fortran too: it needs libc and nothing else, has no
// exceptions, and as long as no engine asks for it, does nothing.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <initializer_list>

namespace psn::preload {

// As psn's families are numbered in files.
enum Family : int {
  kNormal = 0,
  kUniform = 1,
  kCategorical = 2,
  kPoisson = 3,
  kBernoulli = 4,
  kBeta = 5,
  kExponential = 6,
  kGamma = 7,
  kLogNormal = 8,
  kBinomial = 9,
  kWeibull = 10,
  kStudentT = 13,
  kNegativeBinomial = 14,
  kGeometric = 15,
  kLaplace = 16,
};

// Is there an engine that answers?
bool active();

// One number from the engine. To be called with active() only.
double draw(Family family, std::initializer_list<double> parameters);
double draw(Family family, const double* parameters, std::size_t n);
// Independent ones with the same parameters.
void draw(Family family, std::initializer_list<double> parameters, double* out, std::size_t count);
// A uniform number below one; as a whole number below n.
double uniform();
double uniform_below(double n);

// Ends the run, with a line that tells why.
[[noreturn]] void refuse(const char* why);

// What would have been called if this library were not there.
void* next_symbol(const char* name);
template <class F>
F* next(F*, const char* name) {
  return reinterpret_cast<F*>(next_symbol(name));
}

}  // namespace psn::preload

// In front of a function: passes the call on as long as there is no engine.
#define PSN_PASS_ON(name, ...)                        \
  static auto* const next_one = next(&(name), #name); \
  if (!active()) return next_one(__VA_ARGS__)
#define PSN_EXPORT __attribute__((visibility("default")))
