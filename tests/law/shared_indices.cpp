// Addressing::kShared: all indices of a site share its layers, so what was learned at the first
// indices holds at all of them.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "psn/nn/run/evaluate.h"
#include "psn/nn/run/surrogate.h"
#include "psn/train/trainer.h"
#include "tests/law/network_fixture.h"

namespace psn {
namespace {

using namespace test;

// A loop whose rounds are all alike: `more` goes on with probability 0.6. With `forced` rounds
// there are just as many, and going on is no choice.
constexpr double kMore = 0.6;
Model rounds(std::int64_t forced = 0) {
  return {"rounds", [forced](Context& ctx) {
            for (std::int64_t i = 0;; ++i) {
              ctx.sample(Normal(2, 0.5), {.name = "z", .index = i});
              const double p = forced == 0 ? kMore : i + 1 < forced ? 1 : 0;
              const auto more = ctx.sample(Categorical({1 - p, p}), {.name = "more", .index = i});
              if (more.integer() == 0) return;
            }
          }};
}

std::shared_ptr<Network> trained(Addressing addressing) {
  InProcess simulator(rounds());
  const auto network = std::make_shared<Network>(small_config(addressing), 1);
  TrainOptions options = preset("default").training;
  options.traces = 20'000;
  options.batch_size = 64;
  options.seed = 1;
  train_online(simulator, *network, options);
  return network;
}

TEST(SharedIndices, TheVocabularyIsSitesAndSteps) {
  const auto network = trained(Addressing::kShared);
  EXPECT_EQ(network->size(), 4u) << "begin, end, z, more";
  // begin to z at 0, z to more of the same round, more to end or to z of the next round.
  EXPECT_EQ(network->transition_count(), 4u);
}

// Loops of 60 rounds, which training does not meet (0.6^59 = 8e-14), have nearly the simulator's
// density; a network by variable does not even know their addresses.
TEST(SharedIndices, ReachBeyondTheLongestLoopOfTheTraining) {
  constexpr std::int64_t kRounds = 60;
  InProcess simulator(rounds(kRounds));
  const auto traces = simulate(simulator, 50);
  const auto evaluate_with = [&](Addressing addressing) {
    return log_prob(std::make_shared<const CompiledNetwork>(trained(addressing)), traces,
                    UnknownEvaluation::kZero);
  };
  const auto shared = evaluate_with(Addressing::kShared), own = evaluate_with(Addressing::kSite);
  double difference = 0;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const double exact =
        traces[i].log_joint + (kRounds - 1) * std::log(kMore) + std::log(1 - kMore);
    difference += (exact - shared[i]) / static_cast<double>(traces.size() * kRounds);
    EXPECT_EQ(own[i], -INFINITY);
  }
  EXPECT_NEAR(difference, 0, 0.05) << "nats per round";
}

TEST(SharedIndices, GeneratedAddressesAreTheSimulators) {
  SurrogateSimulator surrogate("s", trained(Addressing::kShared));
  std::size_t longest = 0;
  for (const Trace& trace : simulate(surrogate, 20'000)) {
    for (std::size_t i = 0; i < trace.entries.size(); ++i) {
      const Address& address = *trace.entries[i].address;
      ASSERT_EQ(address.name(), indexed_name(i % 2 ? "more" : "z", i / 2));
      ASSERT_EQ(address.instance, 1u);
    }
    longest = std::max(longest, trace.entries.size() / 2);
  }
  EXPECT_GT(longest, 12u);
}

}  // namespace
}  // namespace psn
