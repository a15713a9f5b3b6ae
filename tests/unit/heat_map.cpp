#include "psn/report/heat_map.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace psn {
namespace {

TEST(HeatMap, HasEveryValueAtItsPlace) {
  const HeatMap map{.panels = {{"a", {1, 2, 3, 4, 5, 6}}, {"b", {7, 8, 9, 10, 11, 12}}},
                    .rows = {"minutes", 5, 5},
                    .columns = {"mm", 0, 2},
                    .width = 3,
                    .unit = "C"};
  const auto json = nlohmann::json::parse(vega_lite(map));
  const auto& values = json["data"]["values"];
  ASSERT_EQ(values.size(), 12u);
  EXPECT_EQ(values[5], nlohmann::json({{"panel", "a"}, {"x", 10}, {"y", 4}, {"value", 6}}));
  EXPECT_EQ(values[6], nlohmann::json({{"panel", "b"}, {"x", 5}, {"y", 0}, {"value", 7}}));
  EXPECT_EQ(json["encoding"]["x"]["title"], "minutes");
}

}  // namespace
}  // namespace psn
