// What a trained surrogate of examples/plugin.cpp says: a day in the shop, and the rate at which
// customers come, given that so many came.
#include <cstdio>
#include <cstdlib>

#include "psn/services/infer.h"
#include "psn/services/simulate.h"

int main(int count, char** arguments) try {
  if (count < 2) return std::puts("usage: shop s.psn [CUSTOMERS]"), 1;
  const double customers = count > 2 ? std::atof(arguments[2]) : 12;
  psn::services::Host host;  // silent; another may show progress, or say stop

  psn::services::SimulationJob days;
  days.simulation.model = arguments[1];
  days.simulation.count = 1000;
  days.columns = true;
  const psn::Posterior simulated = psn::services::simulate(days, host).samples;
  std::printf("customers on a day: %.1f\n", simulated.mean("count"));

  psn::services::InferenceJob question;
  question.simulation = days.simulation;
  question.simulation.count = 20'000;
  question.observations.set("count", customers);
  const psn::services::InferenceResult answer = psn::services::infer(question, host);
  std::printf("rate given %g: %.2f +- %.2f\n", customers, answer.posterior.mean("rate"),
              answer.summary.columns.at(0).sd.at(0));
  for (const std::string& warning : answer.warnings) std::printf("%s\n", warning.c_str());
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
