// A batch that takes too much memory is computed in parts: the same gradient, to rounding, and a
// training that can stop between two of them.
#include "psn/train/parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "psn/nn/network_file.h"
#include "psn/train/gradient.h"
#include "psn/train/trainer.h"
#include "tests/law/network_fixture.h"

namespace psn {
namespace {

using test::simulate;
using test::small_config;

// Loops of random length, and an observation at the end.
Model loops() {
  return {"loops", [](Context& ctx) {
            const double a = ctx.sample(Normal(0, 1), {.name = "a"});
            for (int i = 0; ctx.sample(Bernoulli(0.8), {.name = "on"}) == 1; ++i) {
              ctx.sample(Normal(a, 1 + i), {.name = "z", .index = i});
            }
            ctx.observe(Normal(Value{a, -a}, 0.5), {.name = "x"});
          }};
}

NetworkConfig config_for(Purpose purpose) {
  NetworkConfig config = small_config();
  config.purpose = purpose;
  config.observation_layers.skip = 1;
  return config;
}

// A network that knows a batch.
struct KnownBatch {
  explicit KnownBatch(Purpose purpose) : network(config_for(purpose), 3), growth(network) {
    growth.absorb(traces);
    whole = growth.flatten(traces);
  }
  InProcess simulator{loops()};
  std::vector<Trace> traces = simulate(simulator, 100, 5);
  Network network;
  Growth growth;
  Batch whole;
};

class BatchParts : public ::testing::TestWithParam<Purpose> {};
INSTANTIATE_TEST_SUITE_P(Purposes, BatchParts,
                         ::testing::Values(Purpose::kSurrogate, Purpose::kInference),
                         [](const auto& test) {
                           return test.param == Purpose::kInference ? "inference" : "surrogate";
                         });

TEST_P(BatchParts, AddUpToTheWhole) {
  KnownBatch known(GetParam());
  auto& [simulator, traces, network, growth, whole] = known;
  Gradient gradient(network);
  const BatchLoss expected = gradient.compute(whole, Loss::kDivergence);
  Parameters& p = network.parameters();
  std::vector<std::vector<float>> kept;
  for (BlockId id = 0; id < p.block_count(); ++id) {
    const std::size_t n = std::size_t{p.block(id).rows} * p.block(id).columns;
    kept.emplace_back(p.gradients(id), p.gradients(id) + n);
  }
  const std::set<BlockId> touched(gradient.touched().begin(), gradient.touched().end());

  const auto parts = parts_of(network, whole, 2e5);
  ASSERT_GT(parts.size(), 3u);
  gradient.clear();
  BatchLoss sum;
  std::size_t next = 0;
  for (const BatchPart& part : parts) {
    EXPECT_EQ(part.first, next);
    next += part.count;
    const auto some = std::span(traces).subspan(part.first, part.count);
    sum.add(gradient.accumulate(growth.flatten(some), Loss::kDivergence, traces.size()));
  }
  EXPECT_EQ(next, traces.size());
  EXPECT_NEAR(sum.loss, expected.loss, 1e-5 * (1 + std::abs(expected.loss)));
  EXPECT_NEAR(sum.log_prob, expected.log_prob, 1e-5 * (1 + std::abs(expected.log_prob)));
  EXPECT_EQ(sum.worst, expected.worst);
  // Each once: a block that is named twice would be updated twice.
  EXPECT_EQ(gradient.touched().size(), touched.size());
  EXPECT_EQ(std::set<BlockId>(gradient.touched().begin(), gradient.touched().end()), touched);
  for (BlockId id = 0; id < p.block_count(); ++id) {
    for (std::size_t i = 0; i < kept[id].size(); ++i) {
      ASSERT_NEAR(p.gradients(id)[i], kept[id][i], 1e-5 * (1 + std::abs(kept[id][i])));
    }
  }
}

TEST_P(BatchParts, AreAsFewAsTheMemoryAllows) {
  const KnownBatch known(GetParam());
  const auto& [simulator, traces, network, growth, whole] = known;
  EXPECT_EQ(parts_of(network, whole, 1e12).size(), 1u);
  EXPECT_EQ(parts_of(network, whole, 1).size(), traces.size()) << "one trace is not divided";
  EXPECT_GE(parts_of(network, whole, 1e5).size(), parts_of(network, whole, 1e6).size());
  EXPECT_EQ(parts_of(network, Batch{.first = {0}}, 1).size(), 1u);
}

// Stored traces; told to stop while a batch is taken, so after its first part.
class Interrupting : public TraceSource {
 public:
  Interrupting(std::vector<Trace> traces, std::size_t first, Monitor* monitor = nullptr)
      : traces_(std::move(traces)), next_(first), monitor_(monitor) {}

  void take(std::size_t count, std::vector<Trace>& traces) override {
    count = std::min(count, traces_.size() - next_);
    traces.assign(traces_.begin() + static_cast<std::ptrdiff_t>(next_),
                  traces_.begin() + static_cast<std::ptrdiff_t>(next_ + count));
    next_ += count;
    if (monitor_ && ++batches_ == 3) monitor_->stop.store(true);
  }

 private:
  std::vector<Trace> traces_;
  std::size_t next_, batches_ = 0;
  Monitor* monitor_;
};

TEST_P(BatchParts, TrainingStopsBetweenTwoAndGoesOnAsIfItHadNot) {
  InProcess simulator(loops());
  const auto traces = simulate(simulator, 2048, 5);
  TrainOptions options = preset("default").training;
  options.traces = traces.size();
  options.batch_size = 512;
  options.memory_mb = 1;
  if (GetParam() == Purpose::kInference) options.missing = 0.3;
  const auto whole = std::make_shared<Network>(config_for(GetParam()), 3);
  Interrupting all(traces, 0);
  EXPECT_TRUE(train_network(all, {}, *whole, options).finished);

  Monitor monitor;
  const auto network = std::make_shared<Network>(config_for(GetParam()), 3);
  TrainingState state;
  options.monitor = &monitor;
  options.checkpoint = [&](const TrainingState& now) { state = now; };
  Interrupting some(traces, 0, &monitor);
  const Progress stopped = train_network(some, {}, *network, options);
  EXPECT_FALSE(stopped.finished);
  ASSERT_EQ(stopped.batches, 2u) << "the third has several parts, and ended after its first";
  ASSERT_EQ(state.traces, 1024u);

  options.monitor = nullptr;
  options.checkpoint = {};
  options.resume = &state;
  Interrupting rest(traces, 1024);
  EXPECT_TRUE(train_network(rest, {}, *network, options).finished);
  EXPECT_TRUE(serialize_network({network, ""}) == serialize_network({whole, ""}));
}

}  // namespace
}  // namespace psn
