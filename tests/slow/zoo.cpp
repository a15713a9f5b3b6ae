// The zoo's answers against psn's particle filter where that takes long: two minutes in all.
#include <gtest/gtest.h>

#include "tests/law/zoo_filter.h"

namespace psn {
namespace {

class SlowZooFilter : public testing::TestWithParam<ZooFilterRun> {};

TEST_P(SlowZooFilter, Agrees) {
  expect_filter_agreement(GetParam());
}

const ZooFilterRun kSlowRuns[] = {{"zoo-change-points", 3000},
                                  {"zoo-grammar", 3000},
                                  {"zoo-predator-prey", 400},
                                  {"zoo-volatility", 1500}};
INSTANTIATE_TEST_SUITE_P(All, SlowZooFilter, testing::ValuesIn(kSlowRuns),
                         [](const auto& test) { return zoo_test_name(test.param.name); });

}  // namespace
}  // namespace psn
