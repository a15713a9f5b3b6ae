// Training from a store is training on the very traces that were stored, to the last bit.
#include "experiments/control_flow/control_flow.h"
#include "psn/data/shuffle.h"
#include "psn/data/store_source.h"
#include "psn/train/trainer.h"
#include "tests/unit/store_fixture.h"

namespace psn {
namespace {

// Traces in memory, in the order of the store's epochs.
class Shuffled : public TraceSource {
 public:
  Shuffled(const std::vector<Trace>& traces, std::uint64_t seed) : traces_(traces), seed_(seed) {}

  void take(std::size_t count, std::vector<Trace>& out) override {
    out.clear();
    const std::uint64_t length = data::Split::training_count(traces_.size());
    for (; count > 0; --count, ++place_) {
      const data::EpochOrder order(length, seed_, place_ / length);
      out.push_back(traces_[data::Split::training(order(place_ % length))]);
    }
  }

 private:
  const std::vector<Trace>& traces_;
  std::uint64_t seed_, place_ = 0;
};

class StoreTraining : public test::StoreTest, public ::testing::WithParamInterface<Purpose> {};

TEST_P(StoreTraining, EqualsTrainingOnTheSameTraces) {
  InProcess simulator(control_flow::model());
  const auto traces = simulate(simulator, 1000);
  store(simulator, traces);
  Preset recipe = preset("default", GetParam());
  recipe.network.core_dim = 16;
  recipe.training.traces = 1500;  // more than an epoch
  recipe.training.batch_size = 64;
  recipe.training.seed = 4;

  Network from_memory(recipe.network, 1), from_store(recipe.network, 1);
  std::vector<Trace> held_out;
  for (std::size_t i = 19; i < traces.size(); i += 20) held_out.push_back(traces[i]);
  Shuffled memory(traces, 4);
  const Progress a = train_network(memory, held_out, from_memory, recipe.training);

  data::StoreReader reader(path());
  const auto stored_held_out = data::held_out_traces(reader, 1000);
  data::StoreSource source(reader, {.seed = 4, .count = 1500});
  const Progress b = train_network(source, stored_held_out, from_store, recipe.training);

  EXPECT_EQ(a.loss, b.loss);
  ASSERT_TRUE(a.validation && b.validation);
  EXPECT_EQ(a.validation->traces, 50u);
  EXPECT_EQ(a.validation->loss, b.validation->loss);
  ASSERT_EQ(from_memory.size(), from_store.size());
  const Parameters &p = from_memory.parameters(), &q = from_store.parameters();
  ASSERT_EQ(p.block_count(), q.block_count());
  for (BlockId id = 0; id < p.block_count(); ++id) {
    const std::size_t count = std::size_t{p.block(id).rows} * p.block(id).columns;
    EXPECT_TRUE(std::equal(p.values(id), p.values(id) + count, q.values(id))) << "block " << id;
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, StoreTraining,
                         ::testing::Values(Purpose::kSurrogate, Purpose::kInference));

}  // namespace
}  // namespace psn
