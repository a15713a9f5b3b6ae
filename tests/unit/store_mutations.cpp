// Records of a trace store, mutated: a DataError or traces that can be used, never more. Checksums
// are out of the way here; they would refuse them all.
#include <gtest/gtest.h>

#include "psn/base/rng.h"
#include "tests/fuzz/store_records.h"

namespace psn::test {
namespace {

class StoreMutations : public ::testing::TestWithParam<RecordKind> {};

std::string mutated(std::string bytes, Rng& rng) {
  for (std::uint64_t n = 1 + rng.below(4); n > 0; --n) {
    const std::size_t at = rng.below(bytes.size());
    switch (rng.below(4)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ 1 << rng.below(8));
        break;
      case 1:
        bytes[at] = static_cast<char>(rng.below(256));
        break;
      case 2:
        bytes.resize(at + 1);
        break;
      case 3:  // a run of ones: offsets and sizes that point anywhere
        for (std::size_t i = at; i < std::min(at + 4, bytes.size()); ++i) bytes[i] = '\xff';
        break;
    }
  }
  return bytes;
}

TEST_P(StoreMutations, AreRefusedOrUsable) {
  const StoreRecords records;
  const auto sound = records.sound(GetParam());
  for (const std::string& record : sound) EXPECT_TRUE(records.takes(GetParam(), record));
  Rng rng(3);
  int refused = 0;
  constexpr int kMutations = 4000;
  for (int i = 0; i < kMutations; ++i) {
    refused += !records.takes(GetParam(), mutated(sound[rng.below(sound.size())], rng));
  }
  EXPECT_GT(refused, kMutations / 20);
}

INSTANTIATE_TEST_SUITE_P(Records, StoreMutations,
                         ::testing::Values(RecordKind::kAddress, RecordKind::kForm,
                                           RecordKind::kTrace, RecordKind::kBlock));

}  // namespace
}  // namespace psn::test
