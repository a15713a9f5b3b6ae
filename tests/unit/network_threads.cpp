// Threads around networks, small enough for the thread sanitizer: a surrogate shared by two, and a
// trainer that learns while another thread simulates.
#include <gtest/gtest.h>

#include "psn/infer/importance.h"
#include "psn/infer/metropolis.h"
#include "psn/nn/run/surrogate.h"
#include "psn/train/trainer.h"
#include "tests/law/network_fixture.h"

namespace psn {
namespace {

using namespace test;

TEST(NetworkThreads, OneSurrogateOnTwo) {
  // Counted instances: addresses are made while traces run.
  const auto network =
      network_of(control_flow::model(), {.config = small_config(Addressing::kSite), .traces = 30});
  std::vector<Trace> results[2];
  for (const std::size_t threads : {1, 2}) {
    SurrogateSimulator simulator("s", network);
    results[threads - 1] = simulate(simulator, 100, 5, {8, threads});
  }
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(results[0][i].log_joint, results[1][i].log_joint);
  }
  SurrogateSimulator simulator("s", network);
  MetropolisOptions options;
  options.samples = 200;
  options.parallelism = {.width = 2, .threads = 2};
  options.random_walk = true;
  const Observations data{{"x", Value(1.0)}};
  EXPECT_EQ(metropolis_hastings(simulator, data, options).posterior.size(), 200u);
  EXPECT_EQ(importance_sampling(simulator, data, options).size(), 200u);
}

TEST(NetworkThreads, TrainingOverlapsSimulation) {
  InProcess simulator(control_flow::model());
  TrainOptions options = preset("default").training;
  options.traces = 400;
  options.batch_size = 50;
  options.validation_traces = 50;
  options.simulation = {8, 2};
  Network network(small_config(), 1);
  const Progress last = train_online(simulator, network, options);
  EXPECT_EQ(last.batches, 8u);
  EXPECT_EQ(network.parameters().step, 8u);
  // A training that is left early stops its simulators.
  Monitor monitor;
  options.traces = 1'000'000;
  options.monitor = &monitor;
  options.progress_every = 1;
  const Progress stopped =
      train_online(simulator, network, options, [&](const Progress&) { monitor.stop.store(true); });
  EXPECT_EQ(stopped.batches, 1u);
}

}  // namespace
}  // namespace psn
