// What a trained surrogate says about a shop that 12 customers came to.
#include <cstdio>

#include "psn/services/infer.h"
#include "psn/services/simulate.h"

int main(int, char** arguments) {
  psn::services::Host host;
  psn::services::InferenceJob job;
  job.simulation.model = arguments[1];
  job.simulation.count = 2'000;
  job.observations.set("count", 12.0);
  const auto result = psn::services::infer(job, host);
  std::printf("%s: %zu samples\n", result.model.c_str(), result.posterior.size());
}
