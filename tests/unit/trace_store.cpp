// The trace store: what is read is what was written, to the last bit.
#include <thread>

#include "experiments/control_flow/control_flow.h"
#include "psn/base/error.h"
#include "tests/unit/random_programs.h"
#include "tests/unit/store_fixture.h"

namespace psn {
namespace {

using data::StoreReader;
using data::StoreWriter;
using TraceStore = test::StoreTest;
using test::everything;
using test::expect_same;

TEST_F(TraceStore, KeepsTracesToTheLastBit) {
  InProcess simulator(everything());
  const auto traces = simulate(simulator, 500);
  store(simulator, traces);
  StoreReader reader(path());
  ASSERT_EQ(reader.size(), traces.size());
  for (std::size_t i = 0; i < traces.size(); ++i) {
    SCOPED_TRACE(i);
    expect_same(traces[i], reader.read(i));
    if (HasFailure()) return;
  }
  EXPECT_EQ(reader.origins(), (std::vector<data::Origin>{{"everything", 1}}));
}

// How probable it was to come to each entry, and to the end, of a program that draws where it goes.
TEST_F(TraceStore, KeepsTransitions) {
  InProcess simulator(everything());
  auto traces = simulate(simulator, 20);
  for (std::size_t i = 0; i < traces.size(); i += 2) {
    for (std::size_t k = 0; k <= traces[i].entries.size(); ++k) {
      traces[i].transitions.push_back(-0.1 * static_cast<double>(i + k));
    }
  }
  store(simulator, traces);
  StoreReader reader(path());
  for (std::size_t i = 0; i < traces.size(); ++i) expect_same(traces[i], reader.read(i));
  traces[0].transitions.pop_back();  // of another trace
  EXPECT_THROW(store(simulator, std::span(traces).first(1), 1, "other"), InvalidArgument);
}

// Some of the programs do what no store can hold: that is said when it is written, by address, and
// what came before is good.
TEST_F(TraceStore, ReadsWhateverItAccepts) {
  std::size_t refused = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    InProcess simulator(test::random_model(seed));
    const auto traces = simulate(simulator, 8);
    const std::string place = path(std::to_string(seed));
    {
      StoreWriter writer(place, {{simulator.name(), 1}}, simulator.addresses());
      try {
        for (const Trace& trace : traces) writer.append(trace);
      } catch (const InvalidArgument& error) {
        const std::string message = error.what();
        EXPECT_TRUE(message.find(": address 'n") != message.npos ||
                    message.find(": what the program returned ") != message.npos)
            << message;
        EXPECT_LT(message.size(), 1000u);
        ++refused;
      }
      writer.commit();
    }
    StoreReader reader(place);
    ASSERT_EQ(reader.dictionary().addresses().empty(), reader.size() == 0);
    for (std::size_t i = 0; i < reader.size(); ++i) expect_same(traces[i], reader.read(i));
    if (HasFailure()) return;
  }
  EXPECT_GT(refused, 10u);
  EXPECT_LT(refused, 75u);
}

TEST_F(TraceStore, RefusesAModelWhoseNameItCouldNotRead) {
  AddressTable table;
  EXPECT_THROW(StoreWriter(path(), {{std::string(100'000, 'm'), 1}}, table), InvalidArgument);
  EXPECT_THROW(StoreWriter(path(), {{"bell\a", 1}}, table), InvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(TraceStore, IsReadInAnyOrderAndInBlocksOfAnySize) {
  InProcess simulator(control_flow::model());
  const auto traces = simulate(simulator, 5000);
  store(simulator, std::span(traces).first(7), 1);  // one trace a block
  {
    StoreWriter writer(path(), {{simulator.name(), 1}}, simulator.addresses());
    ASSERT_EQ(writer.size(), 7u);
    for (std::size_t i = 7; i < traces.size(); ++i) writer.append(traces[i]);
    EXPECT_EQ(writer.committed(), 7u);
    writer.commit();
    EXPECT_EQ(writer.committed(), traces.size());
  }
  StoreReader reader(path());
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const std::size_t at = i * 2999 % traces.size();
    expect_same(traces[at], reader.read(at));
    if (HasFailure()) return;
  }
}

TEST_F(TraceStore, IsReadByTwoThreadsAtATime) {
  InProcess simulator(everything());
  const auto traces = simulate(simulator, 500);
  store(simulator, traces, 50);
  StoreReader reader(path()), second(reader);
  ASSERT_EQ(second.size(), traces.size());
  std::vector<Trace> read(traces.size());
  std::thread other([&] {
    for (std::size_t i = 0; i < traces.size(); ++i) read[i] = second.read(i);
  });
  for (std::size_t i = traces.size(); i-- > 0;) expect_same(traces[i], reader.read(i));
  other.join();
  for (std::size_t i = 0; i < traces.size(); ++i) expect_same(traces[i], read[i]);
}

TEST_F(TraceStore, OneDistributionServesAllTracesWhereItNeverChanges) {
  InProcess simulator(everything());
  store(simulator, simulate(simulator, 50));
  StoreReader reader(path());
  const Trace a = reader.read(3), b = reader.read(4);
  EXPECT_EQ(a.entries[0].distribution, b.entries[0].distribution);
  EXPECT_NE(a.entries[1].distribution, b.entries[1].distribution);
}

TEST_F(TraceStore, WhatWasNotCommittedIsNotThere) {
  InProcess simulator(control_flow::model());
  const auto traces = simulate(simulator, 300);
  {
    StoreWriter writer(path(), {{simulator.name(), 1}}, simulator.addresses());
    for (std::size_t i = 0; i < 200; ++i) writer.append(traces[i]);
    writer.commit();
    for (std::size_t i = 200; i < 300; ++i) writer.append(traces[i]);
  }
  StoreWriter writer(path(), {{simulator.name(), 1}}, simulator.addresses());
  EXPECT_EQ(writer.size(), 200u);
}

TEST_F(TraceStore, ContinuesInAnotherProcessWithItsOwnAddresses) {
  InProcess first(everything()), second(everything());
  simulate(second, 10, 99);  // addresses get other ids
  const auto traces = simulate(first, 100);
  store(first, std::span(traces).first(60));
  const auto others = simulate(second, 100);
  store(second, std::span(others).subspan(60));
  StoreReader reader(path());
  ASSERT_EQ(reader.size(), 100u);
  for (std::size_t i = 0; i < 100; ++i) expect_same(traces[i], reader.read(i));
}

TEST_F(TraceStore, RefusesOtherModelsSeedsAndWriters) {
  InProcess simulator(control_flow::model());
  AddressTable& table = simulator.addresses();
  auto writer = std::make_unique<StoreWriter>(path(), std::vector<data::Origin>{{"a", 1}}, table);
  const auto refused = [&](const std::vector<data::Origin>& origins, const std::string& why) {
    try {
      const StoreWriter other(path(), origins, table);
      ADD_FAILURE() << why;
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  };
  refused({{"a", 1}}, "another process is writing it");
  writer.reset();
  refused({{"b", 1}}, "holds traces of 'a' from seed 1, not of 'b' from seed 1");
  refused({{"a", 2}}, "not of 'a' from seed 2");
  StoreWriter again(path(), {{"a", 1}}, table);
}

TEST_F(TraceStore, RefusesProposedTraces) {
  InProcess simulator(control_flow::model());
  auto traces = simulate(simulator, 1);
  traces[0].log_weight += 1;
  StoreWriter writer(path(), {{"a", 1}}, simulator.addresses());
  EXPECT_THROW(writer.append(traces[0]), InvalidArgument);
}

TEST_F(TraceStore, NoStoreAndNoRoomAreOneClearError) {
  EXPECT_THROW(StoreReader{path("none")}, DataError);
  InProcess simulator(control_flow::model());
  EXPECT_THROW(StoreWriter(path("no/such/folder"), {{"a", 1}}, simulator.addresses()), DataError);
  std::filesystem::create_directories(path("full/of/other/things"));
  EXPECT_THROW(StoreWriter(path("full"), {{"a", 1}}, simulator.addresses()), DataError);
}

}  // namespace
}  // namespace psn
