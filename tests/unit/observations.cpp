#include "psn/core/observations.h"

#include <gtest/gtest.h>

#include "psn/base/error.h"

namespace psn {
namespace {

class ObservationsTest : public testing::Test {
 protected:
  const Address& at(std::string_view name, std::optional<std::int64_t> index = {},
                    std::uint32_t instance = 1) {
    return *table_.address(table_.variable({"", name, name, "Normal", index}), instance);
  }
  AddressTable table_;
};

TEST_F(ObservationsTest, ByName) {
  const Observations data{{"x", Value(5.0)}, {"v", Value{1, 2}}};
  EXPECT_EQ(data.find(at("x"), 1), Value(5.0));
  EXPECT_EQ(data.find(at("v"), 2), (Value{1, 2}));
  EXPECT_EQ(data.find(at("y"), 1), std::nullopt);
}

TEST_F(ObservationsTest, AVectorFeedsIndexedSites) {
  const Observations data{{"obs", Value{4, 5, 6}}, {"obs_1", Value(9.0)}};
  EXPECT_EQ(data.find(at("obs", 0), 1), Value(4.0));
  EXPECT_EQ(data.find(at("obs", 1), 1), Value(9.0));  // the exact name wins
  EXPECT_EQ(data.find(at("obs", 2), 1), Value(6.0));
  EXPECT_THROW(data.find(at("obs", 3), 1), InvalidArgument);
}

// As over PPX, where a simulator says "obs_0".
TEST_F(ObservationsTest, AVectorFeedsSitesWithTheIndexInTheirName) {
  const Observations data{{"obs", Value{4, 5, 6}}, {"y", Value(1.0)}};
  EXPECT_EQ(data.find(at("obs_0"), 1), Value(4.0));
  EXPECT_EQ(data.find(at("obs_2"), 1), Value(6.0));
  EXPECT_THROW(data.find(at("obs_3"), 1), InvalidArgument);
  for (const char* other : {"obs_01", "obs_", "obs_x", "obs2", "_1", "1"}) {
    EXPECT_EQ(data.find(at(other), 1), std::nullopt) << other;
  }
  EXPECT_EQ(data.find(at("y_0"), 1), std::nullopt);  // a scalar is no list
}

TEST_F(ObservationsTest, AVectorFeedsRepeatedSites) {
  const Observations data{{"obs", Value{4, 5}}};
  EXPECT_EQ(data.find(at("obs", {}, 1), 1), Value(4.0));
  EXPECT_EQ(data.find(at("obs", {}, 2), 1), Value(5.0));
  EXPECT_THROW(data.find(at("obs", {}, 3), 1), InvalidArgument);
}

TEST_F(ObservationsTest, UnnamedSitesTakeNothing) {
  const Observations data{{"", Value(1.0)}};
  EXPECT_EQ(data.find(at(""), 1), std::nullopt);
}

}  // namespace
}  // namespace psn
