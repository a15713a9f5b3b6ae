// Random numbers of the GNU Scientific Library. What is answered here is never passed on, so that
// of nested calls the outermost counts; functions that are not here (shuffles, Dirichlet, the
// hypergeometric law) draw by those that are. Types and constants are those of GSL's interface,
// restated so that this library can be built where GSL is not.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "psn/attach/preload/runtime.h"

namespace {

using namespace psn::preload;

struct GslType {
  const char* name;
  unsigned long max, min;
  std::size_t size;
  void (*set)(void*, unsigned long);
  unsigned long (*get)(void*);
  double (*get_double)(void*);
};
struct GslRng {
  const GslType* type;
  void* state;
};
struct GslDiscrete {
  std::size_t size;
  std::size_t* alias;
  double* share;
};

// Larger choices among equals are drawn as one number between 0 and 1.
constexpr unsigned long kMostCategories = 256;

unsigned whole(double x) {
  return x < 4294967295.0 ? static_cast<unsigned>(x) : 4294967295u;
}

// GSL's headers can put its generators' code into programs, where no symbol is called. So those
// that are made while an engine listens are of a type of ours.
GslType our_types[64];
unsigned long answered_get(const GslType& type) {
  return type.min +
         static_cast<unsigned long>(uniform_below(static_cast<double>(type.max - type.min) + 1));
}
template <int I>
unsigned long get_one(void*) {
  return answered_get(our_types[I]);
}
double get_fraction(void*) {
  return uniform();
}
template <int N, int... I>
auto getters() {
  if constexpr (N == 0) {
    static unsigned long (*const all[])(void*) = {get_one<I>...};
    return static_cast<unsigned long (*const*)(void*)>(all);
  } else {
    return getters<N - 1, N - 1, I...>();
  }
}

const GslType* answered(const GslType* type) {
  constexpr int kTypes = sizeof(our_types) / sizeof(our_types[0]);
  for (int i = 0; i < kTypes; ++i) {
    GslType& ours = our_types[i];
    if (ours.name && ours.set == type->set && std::strcmp(ours.name, type->name) == 0) return &ours;
    if (ours.name) continue;
    ours = *type;
    ours.get = getters<kTypes>()[i];
    ours.get_double = get_fraction;
    return &ours;
  }
  return type;
}

}  // namespace

extern "C" {

PSN_EXPORT GslRng* gsl_rng_alloc(const GslType* type) {
  PSN_PASS_ON(gsl_rng_alloc, type);
  GslRng* rng = next_one(type);
  if (rng) rng->type = answered(rng->type);
  return rng;
}
PSN_EXPORT double gsl_rng_uniform(const GslRng* r) {
  PSN_PASS_ON(gsl_rng_uniform, r);
  return uniform();
}
PSN_EXPORT double gsl_rng_uniform_pos(const GslRng* r) {
  PSN_PASS_ON(gsl_rng_uniform_pos, r);
  return std::max(uniform(), 0x1p-53);
}
PSN_EXPORT unsigned long gsl_rng_get(const GslRng* r) {
  PSN_PASS_ON(gsl_rng_get, r);
  return answered_get(*r->type);
}
PSN_EXPORT unsigned long gsl_rng_uniform_int(const GslRng* r, unsigned long n) {
  PSN_PASS_ON(gsl_rng_uniform_int, r, n);
  if (n <= 1) return 0;
  if (n > kMostCategories) return static_cast<unsigned long>(uniform_below(static_cast<double>(n)));
  double equal[kMostCategories];
  for (unsigned long i = 0; i < n; ++i) equal[i] = 1.0 / static_cast<double>(n);
  return static_cast<unsigned long>(draw(kCategorical, equal, n));
}

// A width of zero is no choice at all.
#define PSN_NORMAL(name)                                          \
  PSN_EXPORT double name(const GslRng* r, double sigma) {         \
    PSN_PASS_ON(name, r, sigma);                                  \
    return sigma == 0 ? 0 : draw(kNormal, {0, std::fabs(sigma)}); \
  }
PSN_NORMAL(gsl_ran_gaussian)
PSN_NORMAL(gsl_ran_gaussian_ziggurat)
PSN_NORMAL(gsl_ran_gaussian_ratio_method)

#define PSN_UNIT_NORMAL(name)               \
  PSN_EXPORT double name(const GslRng* r) { \
    PSN_PASS_ON(name, r);                   \
    return draw(kNormal, {0, 1});           \
  }
PSN_UNIT_NORMAL(gsl_ran_ugaussian)
PSN_UNIT_NORMAL(gsl_ran_ugaussian_ratio_method)

PSN_EXPORT double gsl_ran_flat(const GslRng* r, double a, double b) {
  PSN_PASS_ON(gsl_ran_flat, r, a, b);
  if (a == b) return a;
  return a < b ? draw(kUniform, {a, b}) : draw(kUniform, {b, a});
}
PSN_EXPORT double gsl_ran_exponential(const GslRng* r, double mu) {
  PSN_PASS_ON(gsl_ran_exponential, r, mu);
  return mu == 0 ? 0 : draw(kExponential, {1 / mu});
}

#define PSN_GAMMA(name, shape_type)                                 \
  PSN_EXPORT double name(const GslRng* r, shape_type a, double b) { \
    PSN_PASS_ON(name, r, a, b);                                     \
    return draw(kGamma, {static_cast<double>(a), 1 / b});           \
  }
PSN_GAMMA(gsl_ran_gamma, double)
PSN_GAMMA(gsl_ran_gamma_knuth, double)
PSN_GAMMA(gsl_ran_gamma_mt, double)

PSN_EXPORT double gsl_ran_gamma_int(const GslRng* r, unsigned a) {
  PSN_PASS_ON(gsl_ran_gamma_int, r, a);
  return draw(kGamma, {static_cast<double>(a), 1});
}
PSN_EXPORT double gsl_ran_chisq(const GslRng* r, double nu) {
  PSN_PASS_ON(gsl_ran_chisq, r, nu);
  return draw(kGamma, {nu / 2, 0.5});
}
PSN_EXPORT double gsl_ran_beta(const GslRng* r, double a, double b) {
  PSN_PASS_ON(gsl_ran_beta, r, a, b);
  return draw(kBeta, {a, b});
}
PSN_EXPORT double gsl_ran_lognormal(const GslRng* r, double zeta, double sigma) {
  PSN_PASS_ON(gsl_ran_lognormal, r, zeta, sigma);
  return draw(kLogNormal, {zeta, std::fabs(sigma)});
}
PSN_EXPORT double gsl_ran_tdist(const GslRng* r, double nu) {
  PSN_PASS_ON(gsl_ran_tdist, r, nu);
  return draw(kStudentT, {nu, 0, 1});
}
PSN_EXPORT double gsl_ran_cauchy(const GslRng* r, double a) {
  PSN_PASS_ON(gsl_ran_cauchy, r, a);
  return draw(kStudentT, {1, 0, a});
}
PSN_EXPORT double gsl_ran_laplace(const GslRng* r, double a) {
  PSN_PASS_ON(gsl_ran_laplace, r, a);
  return draw(kLaplace, {0, a});
}
PSN_EXPORT double gsl_ran_weibull(const GslRng* r, double a, double b) {
  PSN_PASS_ON(gsl_ran_weibull, r, a, b);
  return draw(kWeibull, {a, b});
}
PSN_EXPORT double gsl_ran_rayleigh(const GslRng* r, double sigma) {
  PSN_PASS_ON(gsl_ran_rayleigh, r, sigma);
  return draw(kWeibull, {sigma * M_SQRT2, 2});
}
PSN_EXPORT unsigned gsl_ran_poisson(const GslRng* r, double mu) {
  PSN_PASS_ON(gsl_ran_poisson, r, mu);
  return mu == 0 ? 0 : whole(draw(kPoisson, {mu}));
}
PSN_EXPORT unsigned gsl_ran_bernoulli(const GslRng* r, double p) {
  PSN_PASS_ON(gsl_ran_bernoulli, r, p);
  return whole(draw(kBernoulli, {p}));
}

#define PSN_BINOMIAL(name)                                                   \
  PSN_EXPORT unsigned name(const GslRng* r, double p, unsigned n) {          \
    PSN_PASS_ON(name, r, p, n);                                              \
    return n == 0 ? 0 : whole(draw(kBinomial, {static_cast<double>(n), p})); \
  }
PSN_BINOMIAL(gsl_ran_binomial)
PSN_BINOMIAL(gsl_ran_binomial_knuth)
PSN_BINOMIAL(gsl_ran_binomial_tpe)

PSN_EXPORT unsigned gsl_ran_geometric(const GslRng* r, double p) {
  PSN_PASS_ON(gsl_ran_geometric, r, p);
  return whole(1 + draw(kGeometric, {p}));  // GSL counts the success as well
}
PSN_EXPORT unsigned gsl_ran_negative_binomial(const GslRng* r, double p, double n) {
  PSN_PASS_ON(gsl_ran_negative_binomial, r, p, n);
  return p == 1 ? 0 : whole(draw(kNegativeBinomial, {n * (1 - p) / p, n}));
}
PSN_EXPORT unsigned gsl_ran_pascal(const GslRng* r, double p, unsigned n) {
  PSN_PASS_ON(gsl_ran_pascal, r, p, n);
  const double successes = n;
  return p == 1 ? 0 : whole(draw(kNegativeBinomial, {successes * (1 - p) / p, successes}));
}
PSN_EXPORT std::size_t gsl_ran_discrete(const GslRng* r, const GslDiscrete* g) {
  PSN_PASS_ON(gsl_ran_discrete, r, g);
  if (g->size > kMostCategories) return next_one(r, g);  // which draws one number
  using Probability = double(std::size_t, const GslDiscrete*);
  static auto* const probability =
      reinterpret_cast<Probability*>(next_symbol("gsl_ran_discrete_pdf"));
  double probabilities[kMostCategories];
  for (std::size_t k = 0; k < g->size; ++k) probabilities[k] = probability(k, g);
  return static_cast<std::size_t>(draw(kCategorical, probabilities, g->size));
}

}  // extern "C"
