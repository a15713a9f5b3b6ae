// Trace stores for tests: a folder of their own, and equality of traces to the last bit.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "psn/core/in_process.h"
#include "psn/core/run.h"
#include "psn/data/store.h"
#include "tests/unit/store_programs.h"

namespace psn::test {

inline void expect_same(const Value& a, const Value& b) {
  ASSERT_EQ(a.shape(), b.shape());
  ASSERT_EQ(a.is_scalar(), b.is_scalar());
  EXPECT_TRUE(a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0)
      << a.text() << " and " << b.text();
}

inline void expect_same(const Distribution& a, const Distribution& b) {
  ASSERT_EQ(a.family(), b.family());
  const auto p = parameters_of(a), q = parameters_of(b);
  ASSERT_EQ(p.size(), q.size());
  for (std::size_t k = 0; k < p.size(); ++k) expect_same(p[k], q[k]);
  const auto c = components_of(a), d = components_of(b);
  ASSERT_EQ(c.size(), d.size());
  for (std::size_t k = 0; k < c.size(); ++k) expect_same(c[k], d[k]);
}

// Addresses may be of different tables.
inline void expect_same(const Trace& a, const Trace& b) {
  ASSERT_EQ(a.entries.size(), b.entries.size());
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    const Entry &x = a.entries[i], &y = b.entries[i];
    SCOPED_TRACE(x.address->text);
    EXPECT_EQ(x.address->text, y.address->text);
    EXPECT_EQ(x.address->name(), y.address->name());
    EXPECT_EQ(x.address->instance, y.address->instance);
    EXPECT_EQ(x.address->variable->index, y.address->variable->index);
    EXPECT_EQ(x.address->variable->site->text, y.address->variable->site->text);
    EXPECT_EQ(x.address->variable->site->scope, y.address->variable->site->scope);
    EXPECT_EQ(x.address->variable->site->name, y.address->variable->site->name);
    EXPECT_EQ(x.role, y.role);
    EXPECT_EQ(x.control, y.control);
    EXPECT_EQ(x.given, y.given);
    EXPECT_EQ(x.log_prob, y.log_prob);
    expect_same(x.value, y.value);
    ASSERT_EQ(x.distribution != nullptr, y.distribution != nullptr);
    if (x.distribution) expect_same(*x.distribution, *y.distribution);
  }
  expect_same(a.result, b.result);
  EXPECT_EQ(a.transitions, b.transitions);
  EXPECT_EQ(a.log_joint, b.log_joint);
  EXPECT_EQ(a.log_likelihood, b.log_likelihood);
  EXPECT_EQ(a.log_weight, b.log_weight);
}

class StoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("psn_store_" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name = "store") const { return (folder_ / name).string(); }

  // The traces [first, first + count) of a seed.
  static std::vector<Trace> simulate(Simulator& simulator, std::uint64_t count,
                                     std::uint64_t seed = 1) {
    std::vector<Trace> traces(count);
    run_traces(
        simulator, count, [] { return std::make_unique<PriorGuide>(); },
        [&](std::uint64_t i, Trace& trace) { traces[i] = trace; },
        {.seed = seed, .keep_distributions = true}, {16, 1});
    return traces;
  }

  // Adds them, in commits of `batch`.
  void store(Simulator& simulator, std::span<const Trace> traces, std::size_t batch = 100,
             const std::string& name = "store", std::uint64_t seed = 1) const {
    data::StoreWriter writer(path(name), {{simulator.name(), seed}}, simulator.addresses());
    for (std::size_t i = 0; i < traces.size(); ++i) {
      writer.append(traces[i]);
      if ((i + 1) % batch == 0) writer.commit();
    }
    writer.commit();
  }

  std::filesystem::path folder_;
};

}  // namespace psn::test
