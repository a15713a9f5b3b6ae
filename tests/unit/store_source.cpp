// Orders of epochs, the split, and traces of a store as a source to learn from.
#include "psn/data/store_source.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "experiments/control_flow/control_flow.h"
#include "psn/base/error.h"
#include "psn/data/shuffle.h"
#include "tests/unit/store_fixture.h"

namespace psn::data {
namespace {

using test::expect_same;

TEST(Shuffle, PermutationsArePermutations) {
  for (const std::uint64_t size : {1u, 2u, 3u, 5u, 16u, 17u, 1000u, 1024u, 4097u}) {
    const Permutation permutation(size, size * 7);
    std::vector<bool> seen(size);
    for (std::uint64_t i = 0; i < size; ++i) {
      ASSERT_LT(permutation(i), size);
      EXPECT_FALSE(seen[permutation(i)]);
      seen[permutation(i)] = true;
    }
  }
}

// Over many keys each place holds each element equally often: chi-square with 63 degrees of freedom
// at 64 places; the threshold, 135, is passed by chance once in 10^6 tests.
TEST(Shuffle, PermutationsAreUniformOverKeys) {
  constexpr std::uint64_t kSize = 64, kKeys = 6400;
  std::vector<std::vector<double>> count(kSize, std::vector<double>(kSize));
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    const Permutation permutation(kSize, key);
    for (std::uint64_t i = 0; i < kSize; ++i) ++count[i][permutation(i)];
  }
  for (const auto& row : count) {
    double chi_square = 0;
    for (const double n : row) chi_square += (n - 100) * (n - 100) / 100;
    EXPECT_LT(chi_square, 135);
  }
}

TEST(Shuffle, AnEpochHasEveryTraceOnce) {
  for (const std::uint64_t size : {1u, 100u, 1024u, 5000u, 16384u, 40000u}) {
    const EpochOrder order(size, 3, 4), other(size, 3, 5);
    std::vector<bool> seen(size);
    std::uint64_t same = 0;
    for (std::uint64_t i = 0; i < size; ++i) {
      ASSERT_LT(order(i), size);
      EXPECT_FALSE(seen[order(i)]);
      seen[order(i)] = true;
      same += order(i) == other(i);
    }
    if (size > 1) {
      EXPECT_LT(same, 20u) << "one place in " << size << " agrees by chance";
    }
  }
}

// Each batch of 256 is spread over the runs of its window.
TEST(Shuffle, BatchesComeFromManyRuns) {
  const EpochOrder order(1'000'000, 1, 0);
  std::set<std::uint64_t> runs;
  for (std::uint64_t i = 0; i < 256; ++i) runs.insert(order(i) / EpochOrder::kRun);
  EXPECT_EQ(runs.size(), 16u);
}

TEST(Split, SidesAreDisjointAndStay) {
  for (const std::uint64_t size : {0u, 1u, 19u, 20u, 21u, 39u, 40u, 1000u}) {
    std::set<std::uint64_t> all;
    for (std::uint64_t n = 0; n < Split::training_count(size); ++n) all.insert(Split::training(n));
    for (std::uint64_t n = 0; n < Split::held_out_count(size); ++n) all.insert(Split::held_out(n));
    EXPECT_EQ(all.size(), size);
    EXPECT_TRUE(all.empty() || *all.rbegin() == size - 1);
  }
}

class StoreSourceTest : public test::StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    traces_ = simulate(simulator_, 1000);
    store(simulator_, std::span(traces_).first(600));
  }

  static std::vector<Trace> take_all(StoreReader& reader, const StoreSourceOptions& options,
                                     std::size_t at_once = 37) {
    StoreSource source(reader, options);
    std::vector<Trace> all, some;
    do {
      source.take(at_once, some);
      std::move(some.begin(), some.end(), std::back_inserter(all));
    } while (!some.empty());
    return all;
  }

  // Which of the stored traces it is: their first value is continuous.
  std::size_t number_of(const Trace& trace) const {
    for (std::size_t i = 0; i < traces_.size(); ++i) {
      if (traces_[i].log_joint == trace.log_joint) return i;
    }
    ADD_FAILURE() << "a trace from nowhere";
    return 0;
  }

  std::vector<std::size_t> numbers(const std::vector<Trace>& traces) const {
    std::vector<std::size_t> result;
    for (const Trace& trace : traces) result.push_back(number_of(trace));
    return result;
  }

  InProcess simulator_{control_flow::model()};
  std::vector<Trace> traces_;
};

TEST_F(StoreSourceTest, AnEpochHasEachTrainingTraceOnceInAnotherOrderEachTime) {
  StoreReader reader(path());
  const auto read = take_all(reader, {.seed = 5, .count = 3 * 570});
  ASSERT_EQ(read.size(), 3u * 570);
  for (const Trace& trace : read) expect_same(traces_[number_of(trace)], trace);
  const auto order = numbers(read);
  std::vector<std::vector<std::size_t>> epochs;
  for (std::size_t e = 0; e < 3; ++e) {
    epochs.emplace_back(order.begin() + e * 570, order.begin() + (e + 1) * 570);
  }
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_NE(epochs[1], epochs[2]);
  std::set<std::size_t> held_out;
  for (const Trace& trace : held_out_traces(reader, 1000)) held_out.insert(number_of(trace));
  EXPECT_EQ(held_out.size(), 30u);
  for (const auto& epoch : epochs) {
    const std::set<std::size_t> seen(epoch.begin(), epoch.end());
    EXPECT_EQ(seen.size(), 570u);
    EXPECT_TRUE(std::none_of(seen.begin(), seen.end(),
                             [&](std::size_t i) { return held_out.contains(i); }));
  }
  EXPECT_NE(numbers(take_all(reader, {.seed = 6, .count = 570})), epochs[0]);
}

TEST_F(StoreSourceTest, BeginsWhereItStopped) {
  StoreReader reader(path());
  const auto all = numbers(take_all(reader, {.seed = 5, .count = 1500}));
  for (const std::size_t first : {0u, 1u, 569u, 570u, 571u, 1200u}) {
    EXPECT_EQ(numbers(take_all(reader, {.seed = 5, .count = 1500, .first = first}, 64)),
              std::vector(all.begin() + static_cast<std::ptrdiff_t>(first), all.end()));
  }
}

TEST_F(StoreSourceTest, SharesMakeUpTheWhole) {
  StoreReader reader(path());
  const auto all = numbers(take_all(reader, {.seed = 5, .count = 1200}));
  std::vector<std::vector<std::size_t>> part;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    part.push_back(numbers(take_all(
        reader, {.seed = 5, .count = 1200, .share = {.rank = rank, .ranks = 3, .block = 12}})));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i], part[i % 12 / 4][i / 12 * 4 + i % 4]);
  }
}

TEST_F(StoreSourceTest, SaysWhatIsMissing) {
  StoreReader reader(path());
  EXPECT_THROW(StoreSource(reader, {.traces = 601}), DataError);
  { const StoreWriter empty(path("empty"), {{"m", 1}}, simulator_.addresses()); }
  StoreReader none(path("empty"));
  EXPECT_THROW(StoreSource(none, {}), DataError);
}

}  // namespace
}  // namespace psn::data
