/* Programs of psn's, as somebody would write them who has the C library alone. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void gaussian(void) { /* Box and Muller */
  const double radius = sqrt(-2 * log(1 - drand48()));
  const double angle = 2 * 3.14159265358979323846 * drand48();
  printf("mean %.17g\n", 1 + sqrt(5.0) * radius * cos(angle));
}

static void hmm(void) {
  const double first[3] = {1.0 / 3, 1.0 / 3, 1.0 / 3};
  const double next[3][3] = {{0.7, 0.2, 0.1}, {0.15, 0.7, 0.15}, {0.1, 0.3, 0.6}};
  const double level[3] = {-1, 0.5, 2};
  const double* row = first;
  for (int t = 0; t < 4; ++t) {
    const double u = rand() / (RAND_MAX + 1.0);
    const int state = u < row[0] ? 0 : u < row[0] + row[1] ? 1 : 2;
    printf("state %d level %.17g\n", state, level[state]);
    row = next[state];
  }
}

static int poisson(double rate) { /* by inversion */
  double u = random() / (RAND_MAX + 1.0), p = exp(-rate);
  int k = 0;
  while (u >= p && k < 100) {
    u -= p;
    p *= rate / ++k;
  }
  return k;
}

static void branching(void) {
  const int count = poisson(4);
  double rate = 6;
  printf("count %d\n", count);
  if (count <= 4) {
    double current = 0, next = 1;
    for (int i = 0; i < 3 * count; ++i) {
      const double sum = current + next;
      current = next;
      next = sum;
    }
    const int extra = poisson(4);
    printf("extra %d\n", extra);
    rate = 1 + current + extra;
  }
  printf("rate %.17g\n", rate);
}

static void loop(void) {
  int tries = 1;
  while (lrand48() / 2147483648.0 >= 0.4) ++tries;
  printf("tries %d\n", tries);
}

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  srand(3);
  srand48(3);
  if (strcmp(name, "gaussian") == 0) gaussian();
  if (strcmp(name, "hmm") == 0) hmm();
  if (strcmp(name, "branching") == 0) branching();
  if (strcmp(name, "loop") == 0) loop();
  return 0;
}
