// Simulators with deep call stacks need not pass a context around: psn::sample() and the others
// find the simulation that is running. A branching process, three generations deep.
#include <cstdio>

#include "psn/core/in_process.h"
#include "psn/infer/importance.h"

namespace {

int descendants(int generations) {
  if (generations == 0) return 1;
  int count = 0;
  const auto children = psn::sample(psn::Poisson(1.5), {.name = "children"}).integer();
  for (auto i = children; i > 0; --i) count += descendants(generations - 1);
  return count;
}

}  // namespace

int main() {
  psn::InProcess simulator(psn::Model(
      "family", [](psn::Context&) { psn::tag(descendants(3), {.name = "descendants"}); }));
  psn::EngineOptions options;
  options.samples = 100'000;
  options.queries = {{"descendants"}};
  const auto runs = psn::simulate(simulator, options);
  std::printf("descendants after 3 generations: mean %.3f (exact %.3f)\n", runs.mean("descendants"),
              1.5 * 1.5 * 1.5);
}
