/* Draws many times from every law of GSL that psn answers, and prints means and deviations. */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LAW(name, call)                                        \
  do {                                                         \
    double sum = 0, squares = 0;                               \
    for (int i = 0; i < n; ++i) {                              \
      const double x = (double)(call);                         \
      sum += x;                                                \
      squares += x * x;                                        \
    }                                                          \
    printf("%s %.17g %.17g\n", name, sum / n,                  \
           sqrt(squares / n - sum / n * (sum / n)));           \
  } while (0)

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 100;
  const double weights[4] = {1, 0.5, 3, 0};
  gsl_rng* r = gsl_rng_alloc(gsl_rng_taus);
  gsl_ran_discrete_t* discrete = gsl_ran_discrete_preproc(4, weights);
  const gsl_rng_type* type = r->type;
  LAW("uniform", gsl_rng_uniform(r));
  LAW("uniform_pos", gsl_rng_uniform_pos(r));
  LAW("uniform_int", gsl_rng_uniform_int(r, 6));
  LAW("uniform_int_large", gsl_rng_uniform_int(r, 10000));
  LAW("get", (gsl_rng_get(r) - type->min) / (double)(type->max - type->min));
  LAW("get_double", type->get_double(r->state)); /* as GSL's headers put it into programs */
  LAW("gaussian", gsl_ran_gaussian(r, 2));
  LAW("gaussian_ziggurat", gsl_ran_gaussian_ziggurat(r, -2));
  LAW("gaussian_ratio", gsl_ran_gaussian_ratio_method(r, 2));
  LAW("ugaussian", gsl_ran_ugaussian(r));
  LAW("gaussian_tail", gsl_ran_gaussian_tail(r, 1, 2));
  LAW("flat", gsl_ran_flat(r, -1, 3));
  LAW("exponential", gsl_ran_exponential(r, 3));
  LAW("gamma", gsl_ran_gamma(r, 2.5, 3));
  LAW("gamma_int", gsl_ran_gamma_int(r, 4));
  LAW("chisq", gsl_ran_chisq(r, 5));
  LAW("beta", gsl_ran_beta(r, 2, 3));
  LAW("lognormal", gsl_ran_lognormal(r, 0.3, 0.4));
  LAW("tdist", gsl_ran_tdist(r, 9));
  LAW("cauchy", atan(gsl_ran_cauchy(r, 2)));
  LAW("laplace", gsl_ran_laplace(r, 2));
  LAW("weibull", gsl_ran_weibull(r, 2, 3));
  LAW("rayleigh", gsl_ran_rayleigh(r, 2));
  LAW("logistic", gsl_ran_logistic(r, 2));
  LAW("pareto", gsl_ran_pareto(r, 9, 2));
  LAW("levy", atan(gsl_ran_levy(r, 1, 1.5)));
  LAW("poisson", gsl_ran_poisson(r, 4));
  LAW("bernoulli", gsl_ran_bernoulli(r, 0.3));
  LAW("binomial", gsl_ran_binomial(r, 0.3, 20));
  LAW("geometric", gsl_ran_geometric(r, 0.3));
  LAW("negative_binomial", gsl_ran_negative_binomial(r, 0.4, 3.5));
  LAW("pascal", gsl_ran_pascal(r, 0.4, 3));
  LAW("hypergeometric", gsl_ran_hypergeometric(r, 5, 7, 4));
  LAW("discrete", gsl_ran_discrete(r, discrete));
  gsl_ran_discrete_free(discrete);
  gsl_rng_free(r);
  return 0;
}
