// C++ <random> for programs that psn attaches to. Its templates leave no symbol that could be
// answered from outside, so compile the program with `-include psn/attach/random.h` in front: its
// sources stay as they are, and it links nothing. Laws and generators of <random> then ask psn, if
// the program runs under psn; if not, they are what they were, number by number.
//
// Needs C++11. random_device is left alone under psn, but seeds have no effect there.
#pragma once
#ifdef __cplusplus

#include <dlfcn.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <random>
#include <vector>

namespace psn_attach {

enum Family {
  kNormal = 0,
  kUniform = 1,
  kCategorical = 2,
  kPoisson = 3,
  kBernoulli = 4,
  kExponential = 6,
  kGamma = 7,
  kLogNormal = 8,
  kBinomial = 9,
  kWeibull = 10,
  kStudentT = 13,
  kNegativeBinomial = 14,
  kGeometric = 15
};

// What the library that psn puts in front of the program offers.
typedef bool (*DrawFunction)(int, const double*, unsigned long, double*);
inline DrawFunction library() {
  static const DrawFunction found =
      reinterpret_cast<DrawFunction>(::dlsym(RTLD_DEFAULT, "psn_attach_draw"));
  return found;
}
// False, and nothing is drawn, if there is no psn.
inline bool draw(Family family, const double* parameters, unsigned long n, double& value) {
  return library() && library()(family, parameters, n, &value);
}

// A whole number between two, both included.
template <class Whole>
bool draw_whole(Whole low, Whole high, Whole& value) {
  const double n = static_cast<double>(high) - static_cast<double>(low) + 1;
  double drawn = 0;
  if (n <= 1) return false;
  if (n <= 256) {
    const std::vector<double> equal(static_cast<std::size_t>(n), 1 / n);
    if (!draw(kCategorical, equal.data(), equal.size(), drawn)) return false;
  } else {
    const double unit[] = {0, 1};
    if (!draw(kUniform, unit, 2, drawn)) return false;
    drawn = (std::min)(static_cast<double>(static_cast<unsigned long long>(drawn * n)), n - 1);
  }
  value = static_cast<Whole>(low + static_cast<Whole>(drawn));
  return true;
}

}  // namespace psn_attach

// A law of <random> that is `Base`, and asks first. `ASK` answers into `value` from `p`.
#define PSN_ATTACH_LAW(ASK)                                                                        \
  using Base::Base;                                                                                \
  using typename Base::param_type;                                                                 \
  using typename Base::result_type;                                                                \
  template <class G>                                                                               \
  __attribute__((always_inline)) inline result_type operator()(G& g) {                             \
    result_type value;                                                                             \
    return ask(this->param(), value) ? value : Base::operator()(g);                                \
  }                                                                                                \
  template <class G>                                                                               \
  __attribute__((always_inline)) inline result_type operator()(G& g, const param_type& p) {        \
    result_type value;                                                                             \
    return ask(p, value) ? value : Base::operator()(g, p);                                         \
  }                                                                                                \
                                                                                                   \
 private:                                                                                          \
  __attribute__((always_inline)) static inline bool ask(const param_type& p, result_type& value) { \
    ASK                                                                                            \
  }                                                                                                \
                                                                                                   \
 public:

#define PSN_ATTACH_NUMBERS(FAMILY, ...)                                             \
  const double numbers[] = {__VA_ARGS__};                                           \
  double drawn = 0;                                                                 \
  if (!psn_attach::draw(psn_attach::FAMILY, numbers, sizeof(numbers) / 8, drawn)) { \
    return false;                                                                   \
  }                                                                                 \
  value = static_cast<result_type>(drawn);                                          \
  return true;

#define PSN_ATTACH_TEMPLATE(NAME, DEFAULT, ...)     \
  template <class T = DEFAULT>                      \
  struct psn_attached_##NAME : NAME<T> {            \
    typedef NAME<T> Base;                           \
    PSN_ATTACH_LAW(PSN_ATTACH_NUMBERS(__VA_ARGS__)) \
  };

#define PSN_ATTACH_GENERATOR(NAME)                                                             \
  struct psn_attached_##NAME : NAME {                                                          \
    typedef NAME Base;                                                                         \
    using Base::Base;                                                                          \
    psn_attached_##NAME() {}                                                                   \
    psn_attached_##NAME(const psn_attached_##NAME&) = default;                                 \
    psn_attached_##NAME(psn_attached_##NAME& other) : Base(static_cast<const Base&>(other)) {} \
    psn_attached_##NAME& operator=(const psn_attached_##NAME&) = default;                      \
    __attribute__((always_inline)) inline result_type operator()() {                           \
      result_type value;                                                                       \
      if (psn_attach::draw_whole<result_type>((Base::min)(), (Base::max)(), value)) {          \
        return value;                                                                          \
      }                                                                                        \
      return Base::operator()();                                                               \
    }                                                                                          \
  };

namespace std {

PSN_ATTACH_TEMPLATE(normal_distribution, double, kNormal, p.mean(), p.stddev())
PSN_ATTACH_TEMPLATE(uniform_real_distribution, double, kUniform, p.a(), p.b())
PSN_ATTACH_TEMPLATE(lognormal_distribution, double, kLogNormal, p.m(), p.s())
PSN_ATTACH_TEMPLATE(exponential_distribution, double, kExponential, p.lambda())
PSN_ATTACH_TEMPLATE(gamma_distribution, double, kGamma, p.alpha(), 1.0 / p.beta())
PSN_ATTACH_TEMPLATE(chi_squared_distribution, double, kGamma, p.n() / 2.0, 0.5)
PSN_ATTACH_TEMPLATE(weibull_distribution, double, kWeibull, p.b(), p.a())
PSN_ATTACH_TEMPLATE(student_t_distribution, double, kStudentT, p.n(), 0, 1)
PSN_ATTACH_TEMPLATE(cauchy_distribution, double, kStudentT, 1, p.a(), p.b())
PSN_ATTACH_TEMPLATE(poisson_distribution, int, kPoisson, p.mean())
PSN_ATTACH_TEMPLATE(binomial_distribution, int, kBinomial, static_cast<double>(p.t()), p.p())
PSN_ATTACH_TEMPLATE(geometric_distribution, int, kGeometric, p.p())
PSN_ATTACH_TEMPLATE(negative_binomial_distribution, int, kNegativeBinomial,
                    static_cast<double>(p.k()) * (1 - p.p()) / p.p(), static_cast<double>(p.k()))

template <class T = int>
struct psn_attached_uniform_int_distribution : uniform_int_distribution<T> {
  typedef uniform_int_distribution<T> Base;
  PSN_ATTACH_LAW(return psn_attach::draw_whole<T>(p.a(), p.b(), value);)
};

struct psn_attached_bernoulli_distribution : bernoulli_distribution {
  typedef bernoulli_distribution Base;
  PSN_ATTACH_LAW(PSN_ATTACH_NUMBERS(kBernoulli, p.p()))
};

template <class T = int>
struct psn_attached_discrete_distribution : discrete_distribution<T> {
  typedef discrete_distribution<T> Base;
  PSN_ATTACH_LAW(const vector<double> weights = p.probabilities(); double drawn = 0;
                 if (!psn_attach::draw(psn_attach::kCategorical, weights.data(), weights.size(),
                                       drawn)) { return false; } value = static_cast<T>(drawn);
                 return true;)
};

PSN_ATTACH_GENERATOR(mt19937)
PSN_ATTACH_GENERATOR(mt19937_64)
PSN_ATTACH_GENERATOR(minstd_rand)
PSN_ATTACH_GENERATOR(minstd_rand0)
PSN_ATTACH_GENERATOR(ranlux24)
PSN_ATTACH_GENERATOR(ranlux48)
PSN_ATTACH_GENERATOR(knuth_b)
PSN_ATTACH_GENERATOR(default_random_engine)

}  // namespace std

#define normal_distribution psn_attached_normal_distribution
#define uniform_real_distribution psn_attached_uniform_real_distribution
#define uniform_int_distribution psn_attached_uniform_int_distribution
#define lognormal_distribution psn_attached_lognormal_distribution
#define exponential_distribution psn_attached_exponential_distribution
#define gamma_distribution psn_attached_gamma_distribution
#define chi_squared_distribution psn_attached_chi_squared_distribution
#define weibull_distribution psn_attached_weibull_distribution
#define student_t_distribution psn_attached_student_t_distribution
#define cauchy_distribution psn_attached_cauchy_distribution
#define poisson_distribution psn_attached_poisson_distribution
#define binomial_distribution psn_attached_binomial_distribution
#define geometric_distribution psn_attached_geometric_distribution
#define negative_binomial_distribution psn_attached_negative_binomial_distribution
#define bernoulli_distribution psn_attached_bernoulli_distribution
#define discrete_distribution psn_attached_discrete_distribution
#define mt19937 psn_attached_mt19937
#define mt19937_64 psn_attached_mt19937_64
#define minstd_rand psn_attached_minstd_rand
#define minstd_rand0 psn_attached_minstd_rand0
#define ranlux24 psn_attached_ranlux24
#define ranlux48 psn_attached_ranlux48
#define knuth_b psn_attached_knuth_b
#define default_random_engine psn_attached_default_random_engine

#undef PSN_ATTACH_LAW
#undef PSN_ATTACH_NUMBERS
#undef PSN_ATTACH_TEMPLATE
#undef PSN_ATTACH_GENERATOR

#endif  // __cplusplus
