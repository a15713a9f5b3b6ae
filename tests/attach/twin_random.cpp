// Programs of psn's, as somebody would write them who knows <random> and not psn.
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <utility>

namespace {

std::mt19937 rng(3);

void gaussian() {
  std::normal_distribution<double> law(1, std::sqrt(5.0));
  std::printf("mean %.17g\n", law(rng));
}

void hmm() {
  const double level[3] = {-1, 0.5, 2};
  std::discrete_distribution<int> first{1, 1, 1};
  std::discrete_distribution<int> next[3] = {{0.7, 0.2, 0.1}, {0.15, 0.7, 0.15}, {0.1, 0.3, 0.6}};
  int state = 0;
  for (int t = 0; t < 4; ++t) {
    state = t == 0 ? first(rng) : next[state](rng);
    std::printf("state %d level %.17g\n", state, level[state]);
  }
}

void branching() {
  std::poisson_distribution<int> law(4);
  const int count = law(rng);
  double rate = 6;
  std::printf("count %d\n", count);
  if (count <= 4) {
    double current = 0, next = 1;
    for (int i = 0; i < 3 * count; ++i) current = std::exchange(next, current + next);
    const int extra = law(rng);
    std::printf("extra %d\n", extra);
    rate = 1 + current + extra;
  }
  std::printf("rate %.17g\n", rate);
}

void loop() {
  std::uniform_real_distribution<double> law(0, 1);
  int tries = 1;
  while (law(rng) >= 0.4) ++tries;
  std::printf("tries %d\n", tries);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (name == "gaussian") gaussian();
  if (name == "hmm") hmm();
  if (name == "branching") branching();
  if (name == "loop") loop();
}
