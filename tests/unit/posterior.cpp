#include "psn/core/posterior.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/core/in_process.h"
#include "psn/infer/importance.h"
#include "psn/io/atomic_file.h"

namespace psn {
namespace {

// x = 0..3 with weights 1, 2, 3, 4; y occurs only in the last two; v is a vector.
Posterior small_posterior() {
  Posterior posterior({{"x"}, {"y"}, {"v", {2}}}, 4, true);
  AddressTable table;
  const Address* x = table.address(table.variable({"", "x", "x", "Normal", {}}), 1);
  const Address* y = table.address(table.variable({"", "y", "y", "Normal", {}}), 1);
  const Address* v = table.address(table.variable({"", "v", "v", "Normal[2]", {}}), 1);
  for (int i = 0; i < 4; ++i) {
    Trace trace;
    trace.entries.push_back({.address = x, .value = Value(static_cast<double>(i))});
    if (i >= 2) trace.entries.push_back({.address = y, .value = Value(10.0 * i)});
    trace.entries.push_back({.address = v, .value = Value{1.0 * i, -1.0 * i}});
    posterior.put(static_cast<std::size_t>(i), trace, std::log(i + 1.0) - 1000);
  }
  return posterior;
}

TEST(Posterior, WeightedStatistics) {
  const Posterior p = small_posterior();
  EXPECT_NEAR(p.mean("x"), 2, 1e-12);
  EXPECT_NEAR(p.variance("x"), (4 * 1 + 1 * 2 + 0 + 1 * 4) / 10.0, 1e-12);
  EXPECT_EQ(p.quantile("x", 0.05), 0);
  EXPECT_EQ(p.quantile("x", 0.31), 2);
  EXPECT_EQ(p.quantile("x", 1), 3);
  EXPECT_NEAR(p.mean("v", 1), -2, 1e-12);
  EXPECT_NEAR(p.effective_sample_size(), 100.0 / 30, 1e-9);
  EXPECT_NEAR(p.log_evidence(), std::log(2.5) - 1000, 1e-9);
  EXPECT_NEAR(p.expectation([&](std::size_t i) { return p.value("x", i) > 1 ? 1 : 0; }), 0.7,
              1e-12);
}

TEST(Posterior, WhatDoesNotAlwaysOccur) {
  const Posterior p = small_posterior();
  EXPECT_NEAR(p.probability("y"), 0.7, 1e-12);
  EXPECT_NEAR(p.probability("x"), 1, 1e-12);
  EXPECT_NEAR(p.mean("y"), (20 * 3 + 30 * 4) / 7.0, 1e-12);
}

TEST(Posterior, Histogram) {
  const Histogram h = small_posterior().histogram("x", 2);
  EXPECT_EQ(h.edges, (std::vector{0.0, 1.5, 3.0}));
  EXPECT_NEAR(h.probabilities[0], 0.3, 1e-12);
  EXPECT_NEAR(h.probabilities[1], 0.7, 1e-12);
}

TEST(Posterior, MapFilterResample) {
  const Posterior p = small_posterior();
  const Posterior doubled = p.map("2x", [&](std::size_t i) { return 2 * p.value("x", i); });
  EXPECT_NEAR(doubled.mean("2x"), 4, 1e-12);
  const Posterior high = p.filter([&](std::size_t i) { return p.value("x", i) >= 2; });
  EXPECT_EQ(high.size(), 2u);
  EXPECT_NEAR(high.mean("x"), (2 * 3 + 3 * 4) / 7.0, 1e-12);
  EXPECT_EQ(high.traces().size(), 2u);
  Rng rng(1);
  const Posterior equal = p.resample(1000, rng);
  EXPECT_EQ(equal.size(), 1000u);
  // Systematic resampling gets every count right to one.
  for (int i = 0; i < 4; ++i) {
    double count = 0;
    for (std::size_t k = 0; k < equal.size(); ++k) count += equal.value("x", k) == i;
    EXPECT_NEAR(count, 100.0 * (i + 1), 1);
  }
  EXPECT_NEAR(equal.effective_sample_size(), 1000, 1e-6);
}

TEST(Posterior, AllWeightsZeroIsAnError) {
  Posterior p({{"x"}}, 1);
  p.put(0, Trace(), -kInfinity);
  EXPECT_THROW(p.weights(), ModelError);
  EXPECT_EQ(p.log_evidence(), -kInfinity);
}

TEST(Posterior, UnknownNamesListTheKnown) {
  try {
    small_posterior().mean("z");
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "no 'z' in the posterior; it has: x, y, v");
  }
  EXPECT_THROW(small_posterior().mean("v", 2), InvalidArgument);
}

class PosteriorFile : public testing::Test {
 protected:
  std::string path_ = testing::TempDir() + "/posterior_" + std::to_string(::getpid());
  void TearDown() override { std::filesystem::remove(path_); }
};

TEST_F(PosteriorFile, SaveAndLoad) {
  Posterior p = small_posterior();
  p.set_chains(2);
  p.save(path_);
  const Posterior q = Posterior::load(path_);
  EXPECT_EQ(q.names(), p.names());
  EXPECT_EQ(q.chains(), 2u);
  EXPECT_EQ(q.log_weights(), p.log_weights());
  EXPECT_EQ(q.column("x").data, p.column("x").data);
  EXPECT_EQ(q.column("v").shape, Shape{2});
  EXPECT_EQ(q.mean("y"), p.mean("y"));
}

// A column for each of many choices: by name, by address, asked for twice, absent; the last of
// several occurrences.
TEST_F(PosteriorFile, FindsEachOfManyColumnsInOnePass) {
  InProcess simulator(Model("m", [](Context& ctx) {
    for (std::int64_t i = 0; i < 40; ++i) ctx.sample(Normal(0, 1), {.name = "x", .index = i});
    ctx.sample(Normal(0, 1), {.name = "again"});
    ctx.sample(Normal(0, 1), {.name = "again"});
    ctx.factor(-1, {.name = "factor"});
  }));
  std::vector<Query> queries;
  for (int i = 0; i < 40; ++i) queries.push_back({"x_" + std::to_string(i)});
  for (const char* name : {"x_3", "x_4__Normal__1", "again", "again__Normal__1", "factor", "no"}) {
    queries.push_back({name});
  }
  queries.push_back({"twice", {}, [](const Trace& trace) { return Value(2 * trace["x_0"]); }});
  Posterior p(queries, 3);
  run_traces(simulator, 3, prior_guide(),
             [&](std::uint64_t i, Trace& trace) {
               p.put(i, trace, 0);
               for (std::size_t q = 0; q < 40; ++q) {
                 EXPECT_EQ(p.value(queries[q].name, i), trace.entries[q].value.scalar());
               }
               EXPECT_EQ(p.value("x_4__Normal__1", i), trace.entries[4].value.scalar());
               EXPECT_EQ(p.value("again", i), trace.entries[41].value.scalar());
               EXPECT_EQ(p.value("again__Normal__1", i), trace.entries[40].value.scalar());
               EXPECT_EQ(p.value("twice", i), 2 * trace.entries[0].value.scalar());
               EXPECT_TRUE(std::isnan(p.value("factor", i)));
               EXPECT_TRUE(std::isnan(p.value("no", i)));
             },
             {}, {1, 1});
  p.write_csv(path_);
  std::istringstream csv(read_file(path_));
  std::vector<std::string> cells;
  for (std::string line, cell; cells.empty() && std::getline(csv, line);) {
    if (line.starts_with("log_weight")) continue;
    for (std::istringstream row(line); std::getline(row, cell, ',');) cells.push_back(cell);
  }
  EXPECT_EQ(cells.at(1 + 40), cells.at(1 + 3));  // "x_3", asked for twice
  EXPECT_NE(cells.at(1 + 40), "");
}

TEST_F(PosteriorFile, CsvAndJson) {
  const Posterior p = small_posterior();
  p.write_csv(path_);
  std::istringstream csv(read_file(path_));
  std::string line;
  std::getline(csv, line);
  EXPECT_EQ(line, "log_weight,x,y,v[0],v[1]");
  std::getline(csv, line);
  EXPECT_EQ(line, "-1000,0,,0,-0");
  const auto json = nlohmann::json::parse(p.to_json());
  EXPECT_EQ(json["columns"]["x"]["data"][3], 3.0);
  EXPECT_TRUE(json["columns"]["y"]["data"][0].is_null());
}

TEST_F(PosteriorFile, MissingAndUnwritable) {
  EXPECT_THROW(Posterior::load("/nowhere/at/all"), DataError);
  EXPECT_THROW(small_posterior().save("/nowhere/at/all"), DataError);
}

}  // namespace
}  // namespace psn
