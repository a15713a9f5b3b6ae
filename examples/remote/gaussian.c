/* A simulator in C:
 *   psn infer 'exec:build/bin/example_remote_c {endpoint}' --observe obs0=8 --observe obs1=9
 */
#include <math.h>

#include "psn/ppx/psn.h"

static double program(void* data) {
  (void)data;
  const double mu = psn_sample_normal("mu", 1, sqrt(5.0));
  psn_observe_normal("obs0", mu, sqrt(2.0), NULL);
  psn_observe_normal("obs1", mu, sqrt(2.0), NULL);
  return mu;
}

int main(int argc, char** argv) {
  return psn_serve("gaussian", program, NULL, argc > 1 ? argv[1] : NULL);
}
