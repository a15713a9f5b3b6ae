/* Programs of psn's, as somebody would write them who knows GSL and not psn. */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void gaussian(gsl_rng* rng) {
  printf("mean %.17g\n", 1 + gsl_ran_gaussian(rng, sqrt(5.0)));
}

static void hmm(gsl_rng* rng) {
  const double first[3] = {1, 1, 1};
  const double next[3][3] = {{0.7, 0.2, 0.1}, {0.15, 0.7, 0.15}, {0.1, 0.3, 0.6}};
  const double level[3] = {-1, 0.5, 2};
  const double* row = first;
  for (int t = 0; t < 4; ++t) {
    gsl_ran_discrete_t* law = gsl_ran_discrete_preproc(3, row);
    const size_t state = gsl_ran_discrete(rng, law);
    gsl_ran_discrete_free(law);
    printf("state %zu level %.17g\n", state, level[state]);
    row = next[state];
  }
}

static void branching(gsl_rng* rng) {
  const unsigned count = gsl_ran_poisson(rng, 4);
  double rate = 6;
  printf("count %u\n", count);
  if (count <= 4) {
    double current = 0, next = 1;
    for (unsigned i = 0; i < 3 * count; ++i) {
      const double sum = current + next;
      current = next;
      next = sum;
    }
    const unsigned extra = gsl_ran_poisson(rng, 4);
    printf("extra %u\n", extra);
    rate = 1 + current + extra;
  }
  printf("rate %.17g\n", rate);
}

static void loop(gsl_rng* rng) {
  int tries = 1;
  while (gsl_rng_uniform(rng) >= 0.4) ++tries;
  printf("tries %d\n", tries);
}

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  gsl_rng* rng = gsl_rng_alloc(gsl_rng_mt19937);
  if (strcmp(name, "gaussian") == 0) gaussian(rng);
  if (strcmp(name, "hmm") == 0) hmm(rng);
  if (strcmp(name, "branching") == 0) branching(rng);
  if (strcmp(name, "loop") == 0) loop(rng);
  gsl_rng_free(rng);
  return 0;
}
