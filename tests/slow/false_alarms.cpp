// How often verdicts fail what is sound: at most 1 % is stated. Of 200 repetitions 8 or more would
// come up once in a thousand times.
#include "psn/services/generate.h"
#include "tests/law/verdict_fixture.h"

namespace psn {
namespace {

constexpr int kRepetitions = 200, kMostFailures = 7;

class FalseAlarms : public test::VerdictTest {};

// Exactly right: the "simulator" is the surrogate itself, by its stored traces. It fails: 46 of
// 200, with and without a tolerance (docs/howto/check-it-is-right.md).
TEST_F(FalseAlarms, OfASurrogateThatIsItsSimulator) {
  const std::string network = saved(surrogate(5000));
  int failures = 0;
  for (std::uint64_t seed = 1; seed <= kRepetitions; ++seed) {
    services::GenerationJob generation;
    generation.simulation.model = network;
    generation.simulation.count = 500;
    generation.simulation.seed = 1000 + seed;
    generation.store = (folder_ / ("traces" + std::to_string(seed))).string();
    services::generate(generation, host_);
    services::ValidationJob job;
    job.data = generation.store;
    job.all_traces = true;
    job.surrogate = network;
    job.simulation.seed = seed;
    failures += services::validate(job, host_).verdict.passed ? 0 : 1;
    std::filesystem::remove_all(generation.store);
  }
  EXPECT_LE(failures, kMostFailures);
}

TEST_F(FalseAlarms, OfWeightedPosteriors) {
  const auto network = inference_network(test::measurements(), 6000);
  int failures = 0;
  for (std::uint64_t seed = 1; seed <= kRepetitions; ++seed) {
    failures += calibrated(network, services::Engine::kCompiled, seed).verdict.passed ? 0 : 1;
  }
  EXPECT_LE(failures, kMostFailures);
}

TEST_F(FalseAlarms, OfDataFromTheModel) {
  int failures = 0;
  for (std::uint64_t seed = 1; seed <= kRepetitions; ++seed) {
    failures += criticised(data_of(1, seed), seed).verdict.passed ? 0 : 1;
  }
  EXPECT_LE(failures, kMostFailures);
}

}  // namespace
}  // namespace psn
