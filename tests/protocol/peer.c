/* The built-in models in C: ppx_peer_c MODEL ENDPOINT. */
#include "psn/ppx/psn.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double gaussian(void* data) {
  (void)data;
  const double noise = sqrt(2.0), first = 8, second = 9;
  const double mu = psn_sample_normal("mu", 1, sqrt(5.0));
  psn_observe_normal("obs0", mu, noise, &first);
  psn_observe_normal("obs1", mu, noise, &second);
  return mu;
}

static const char* indexed(char* buffer, const char* name, long index) {
  sprintf(buffer, "%s_%ld", name, index);
  return buffer;
}

static double hmm(void* data) {
  (void)data;
  static const double initial[3] = {1.0 / 3, 1.0 / 3, 1.0 / 3};
  static const double transition[3][3] = {{0.7, 0.2, 0.1}, {0.15, 0.7, 0.15}, {0.1, 0.3, 0.6}};
  static const double mean[3] = {-1, 0.5, 2};
  static const double seen[16] = {-0.8, -1.3, 0.2,  0.9,  0.4, 1.1, 2.4, 1.7,
                                  2.2,  0.3,  -0.6, -1.1, 0.1, 0.8, 1.9, 2.6};
  char name[32];
  long state = 0;
  for (long t = 0; t < 16; ++t) {
    const double* row = t == 0 ? initial : transition[state];
    state = psn_sample_categorical(indexed(name, "x", t), row, 3);
    psn_observe_normal(indexed(name, "obs", t), mean[state], 1, &seen[t]);
  }
  return (double)state;
}

static double branching(void* data) {
  (void)data;
  const double seen = 6;
  const long count = psn_sample_poisson("count", 4);
  double rate = 6;
  if (count <= 4) {
    double current = 0, next = 1;
    for (long n = 3 * count; n > 0; --n) {
      const double sum = current + next;
      current = next;
      next = sum;
    }
    rate = 1 + current + (double)psn_sample_poisson("extra", 4);
  }
  psn_observe_poisson("obs", rate, &seen);
  return (double)count;
}

static double control_flow(void* data) {
  (void)data;
  const double branch[2] = {1 - 0.7, 0.7};
  char name[32];
  const double theta = psn_sample_beta("theta", 2, 5);
  const double go_on[2] = {1 - theta, theta};
  double sum = 0;
  for (long i = 0;; ++i) {
    if (psn_sample_categorical(indexed(name, "bern", i), branch, 2) == 1) {
      sum += psn_sample_normal(indexed(name, "z_1", i), 1, 0.25);
    } else {
      sum += psn_sample_normal(indexed(name, "z_2", i), 1.5, 0.5);
    }
    if (psn_sample_categorical(indexed(name, "c", i), go_on, 2) == 0) break;
  }
  psn_observe_normal("x", sum, 0.5, NULL);
  return theta;
}

int main(int argc, char** argv) {
  if (argc != 3) return 64;
  if (strcmp(argv[1], "gaussian") == 0) return psn_serve(argv[1], gaussian, NULL, argv[2]);
  if (strcmp(argv[1], "hmm") == 0) return psn_serve(argv[1], hmm, NULL, argv[2]);
  if (strcmp(argv[1], "branching") == 0) return psn_serve(argv[1], branching, NULL, argv[2]);
  if (strcmp(argv[1], "control-flow") == 0) return psn_serve(argv[1], control_flow, NULL, argv[2]);
  return 64;
}
