#include "psn/core/address.h"

#include <gtest/gtest.h>

#include <thread>

#include "psn/base/error.h"
#include "psn/core/address_cache.h"

namespace psn {
namespace {

TEST(AddressTable, InternsByText) {
  AddressTable table;
  const Variable* variable = table.variable({"loop/", "bern", "bern", "Normal", 2});
  EXPECT_EQ(variable->text, "loop/bern_2__Normal");
  EXPECT_EQ(variable->name, "bern_2");
  EXPECT_EQ(variable->site->text, "loop/bern__Normal");
  EXPECT_EQ(variable->site->name, "bern");
  EXPECT_EQ(variable, table.variable({"loop/", "bern", "bern", "Normal", 2}));
  const Address* address = table.address(variable, 3);
  EXPECT_EQ(address->text, "loop/bern_2__Normal__3");
  EXPECT_EQ(address, table.address(variable, 3));
  EXPECT_EQ(table.find("loop/bern_2__Normal__3"), address);
  EXPECT_EQ(table.find("nothing"), nullptr);
  EXPECT_EQ(table.at(address->id), address);
}

TEST(AddressTable, BeginAndEndAreOrdinaryAddresses) {
  AddressTable table;
  EXPECT_EQ(table.begin()->id, 0u);
  EXPECT_EQ(table.end()->id, 1u);
  EXPECT_EQ(table.size(), 2u);
}

TEST(AddressTable, IndicesShareTheirSite) {
  AddressTable table;
  EXPECT_EQ(table.variable({"", "c", "c", "Normal", 0})->site,
            table.variable({"", "c", "c", "Normal", 1})->site);
  EXPECT_NE(table.variable({"", "c", "c", "Normal", 0})->site,
            table.variable({"", "c", "c", "Beta", 0})->site);
}

TEST(AddressTable, OneAddressHasOneName) {
  AddressTable table;
  table.variable({"", "here", "a", "Normal", {}});
  EXPECT_THROW(table.variable({"", "here", "b", "Normal", {}}), ModelError);
}

TEST(AddressTable, ThreadsAgree) {
  AddressTable table;
  std::vector<std::vector<const Address*>> seen(4);
  std::vector<std::thread> threads;
  for (auto& list : seen) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        list.push_back(table.address(table.variable({"", "x", "x", "Normal", i % 50}), 1));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& list : seen) EXPECT_EQ(list, seen[0]);
  EXPECT_EQ(table.size(), 52u);
}

class AddressCacheTest : public testing::Test {
 protected:
  const Variable* at(const SiteOptions& options, const Distribution& distribution = Normal(0, 1),
                     std::string_view scope = "",
                     std::source_location location = std::source_location::current()) {
    return cache_.variable(scope, options, location, &distribution, "");
  }
  AddressTable table_;
  AddressCache cache_{table_};
};

TEST_F(AddressCacheTest, NameBeatsLocationAndAddressBeatsName) {
  EXPECT_EQ(at({.name = "a"}), at({.name = "a"}));
  EXPECT_EQ(at({.name = "a"})->text, "a__Normal");
  EXPECT_EQ(at({.name = "a", .address = "there"})->text, "there__Normal");
  EXPECT_EQ(at({.name = "a", .address = "there"})->name, "a");
  EXPECT_TRUE(at({})->text.starts_with("address.cpp:"));
  EXPECT_TRUE(at({})->name.empty());
  const Variable* here = at({});
  const Variable* there = at({});
  EXPECT_NE(here, there);
}

TEST_F(AddressCacheTest, TypeShapeIndexAndScopeTellApart) {
  const Variable* plain = at({.name = "a"});
  EXPECT_NE(plain, at({.name = "a"}, Beta(1, 1)));
  EXPECT_NE(plain, at({.name = "a"}, Normal(Value{0, 0}, 1)));
  EXPECT_NE(plain, at({.name = "a", .index = 0}));
  EXPECT_NE(plain, at({.name = "a"}, Normal(0, 1), "inner/"));
  EXPECT_NE(at({.name = "k"}, Categorical({1, 1})), at({.name = "k"}, Categorical({1, 1, 1})));
  EXPECT_EQ(at({.name = "k"}, Categorical({1, 1})), at({.name = "k"}, Categorical({3, 1})));
}

TEST_F(AddressCacheTest, GrowsWithoutLosingAnything) {
  std::vector<const Variable*> first;
  for (int i = 0; i < 2000; ++i) first.push_back(at({.name = "x", .index = i}));
  for (int i = 0; i < 2000; ++i) {
    EXPECT_EQ(at({.name = "x", .index = i}), first[static_cast<std::size_t>(i)]);
  }
}

// A name built at run time lives in a buffer that is used again for the next one.
TEST_F(AddressCacheTest, NamesAreComparedByContent) {
  std::string buffer = "z_0";
  const Variable* zero = at({.name = buffer});
  buffer[2] = '1';
  EXPECT_NE(at({.name = buffer}), zero);
  buffer[2] = '0';
  EXPECT_EQ(at({.name = buffer}), zero);
}

}  // namespace
}  // namespace psn
