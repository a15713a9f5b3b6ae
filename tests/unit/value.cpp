#include "psn/core/value.h"

#include <gtest/gtest.h>

#include "psn/base/error.h"

namespace psn {
namespace {

TEST(Value, ScalarsVectorsAndArrays) {
  const Value scalar = 2.5;
  EXPECT_TRUE(scalar.is_scalar());
  EXPECT_EQ(scalar.shape(), Shape{});
  EXPECT_EQ(static_cast<double>(scalar), 2.5);
  EXPECT_EQ(scalar.rank(), 0u);

  const Value three{1, 2, 3};
  EXPECT_EQ(three.shape(), Shape{3});
  EXPECT_EQ(three[2], 3);

  const Value five{1, 2, 3, 4, 5};
  EXPECT_EQ(five.shape(), Shape{5});
  EXPECT_EQ(five.last_extent(), 5u);

  const Value grid({1, 2, 3, 4, 5, 6}, {3, 2});
  EXPECT_EQ(grid.shape(), (Shape{3, 2}));
  EXPECT_EQ(grid.last_extent(), 2u);
  EXPECT_EQ(grid.rank(), 2u);

  EXPECT_TRUE(Value().empty());
  EXPECT_FALSE(Value({1.0}, {1}).is_scalar());
}

TEST(Value, CopiesAndMovesKeepTheirContent) {
  for (const Value& original : {Value(1.5), Value{1, 2}, Value{1, 2, 3, 4}, Value()}) {
    Value copy = original;
    EXPECT_EQ(copy, original);
    Value moved = std::move(copy);
    EXPECT_EQ(moved, original);
    Value assigned{9, 9, 9, 9, 9};
    assigned = moved;
    EXPECT_EQ(assigned, original);
    assigned = Value{7, 7, 7, 7};
    moved = std::move(assigned);
    EXPECT_EQ(moved, (Value{7, 7, 7, 7}));
    const Value& self = moved;
    moved = self;
    EXPECT_EQ(moved, (Value{7, 7, 7, 7}));
  }
}

TEST(Value, EqualityIncludesTheShape) {
  EXPECT_TRUE(Value(1.0) == 1);
  EXPECT_TRUE(Value(1.5) == 1.5);
  EXPECT_FALSE(Value(1.0) == Value({1.0}, {1}));
  EXPECT_FALSE(Value({1, 2, 3, 4}, {2, 2}) == (Value{1, 2, 3, 4}));
}

TEST(Value, RefusesImpossibleUse) {
  EXPECT_THROW((Value{1, 2}).scalar(), ModelError);
  EXPECT_THROW(Value().scalar(), ModelError);
  EXPECT_THROW(Value({1, 2, 3}, {2, 2}), InvalidArgument);
  EXPECT_THROW(element_count({-1}), InvalidArgument);
  EXPECT_THROW(element_count({1 << 30, 1 << 30}), InvalidArgument);
}

TEST(Value, Text) {
  EXPECT_EQ(Value(0.5).text(), "0.5");
  EXPECT_EQ((Value{1, 2}).text(), "[1, 2]");
  EXPECT_EQ(Value(std::vector<double>(20, 1.0)).text(),
            "[1, 1, 1, 1, 1, 1, 1, 1, ... (20 in all)]");
}

}  // namespace
}  // namespace psn
