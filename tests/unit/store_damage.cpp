// Damaged stores and those that cannot grow: one clear error, or the traces as they were; never
// another trace, never the end of the process, and nothing written over.
#include <fstream>
#include <functional>

#include "experiments/control_flow/control_flow.h"
#include "psn/base/error.h"
#include "tests/unit/store_fixture.h"

namespace psn {
namespace {

namespace fs = std::filesystem;
using data::StoreReader;
using data::StoreWriter;
using test::expect_same;

class StoreDamage : public test::StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    traces_ = simulate(simulator_, 1000);
    store(simulator_, traces_, 250);
    file_ = read(path() + "/data.mdb");
    StoreReader reader(path());
    for (std::uint64_t i = 0; i < reader.size(); ++i) payloads_.emplace_back(reader.payload(i));
  }

  static std::string read(const std::string& name) {
    std::ifstream in(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  void write(const std::string& bytes) const {
    fs::remove_all(path("damaged"));
    fs::create_directory(path("damaged"));
    std::ofstream(path("damaged/data.mdb"), std::ios::binary) << bytes;
  }

  // Reads all; true if nothing was wrong. What can be read is as it was. Roots that were hit may
  // lead to the commit before.
  bool is_clean() const {
    try {
      StoreReader reader(path("damaged"));
      for (std::uint64_t i = 0; i < reader.size(); ++i) {
        reader.read(i);
        EXPECT_TRUE(reader.payload(i) == payloads_[i]) << "trace " << i;
      }
      return reader.size() == payloads_.size();
    } catch (const DataError& error) {
      const std::string text = error.what();
      EXPECT_TRUE(text.starts_with("trace store '" + path("damaged") + "': ")) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos);
      return false;
    }
  }

  InProcess simulator_{control_flow::model()};
  std::vector<Trace> traces_;
  std::string file_;
  std::vector<std::string> payloads_;
};

TEST_F(StoreDamage, TruncatedAtAnyLength) {
  Rng rng(1);
  std::vector<std::size_t> lengths{0, 1, 100, 4095, 4096, 8191, 8192, file_.size() - 4096};
  for (int i = 0; i < 30; ++i) lengths.push_back(rng.below(file_.size() - 4096));
  for (const std::size_t length : lengths) {
    SCOPED_TRACE(length);
    write(file_.substr(0, length));
    EXPECT_FALSE(is_clean());
    EXPECT_EQ(read(path("damaged/data.mdb")).size(), length);
  }
}

// Each flip is one in a fresh copy: 50 in traces, all of which must be noticed, 50 anywhere, and 20
// in each page of the trees; those may hit unused space.
TEST_F(StoreDamage, FlippedBytes) {
  Rng rng(2);
  constexpr std::size_t kInTraces = 50;
  std::vector<std::size_t> places;
  while (places.size() < kInTraces) {
    const std::string& payload = payloads_[rng.below(payloads_.size())];
    places.push_back(file_.find(payload) + rng.below(payload.size()));
  }
  for (int i = 0; i < 50; ++i) places.push_back(rng.below(file_.size()));
  for (std::size_t page = 0; page * 4096 < file_.size(); ++page) {
    const auto flags = static_cast<unsigned char>(file_[page * 4096 + 10]);
    if (page > 1 && flags != 1 && flags != 2) continue;
    for (int i = 0; i < 20; ++i) places.push_back(page * 4096 + rng.below(page > 1 ? 4096 : 152));
  }
  for (std::size_t k = 0; k < places.size(); ++k) {
    SCOPED_TRACE(places[k]);
    std::string damaged = file_;
    damaged[places[k]] = static_cast<char>(damaged[places[k]] ^ 1 << rng.below(8));
    write(damaged);
    const bool clean = is_clean();
    EXPECT_FALSE(clean && k < kInTraces);
    EXPECT_TRUE(read(path("damaged/data.mdb")) == damaged);
    // A writer refuses, or leaves what was there as it was.
    try {
      StoreWriter writer(path("damaged"), {{simulator_.name(), 1}}, simulator_.addresses());
      const std::uint64_t before = writer.size();
      for (std::size_t i = before; i < before + 20; ++i) writer.append(traces_[i % traces_.size()]);
      writer.commit();
    } catch (const DataError&) {
      EXPECT_TRUE(read(path("damaged/data.mdb")) == damaged);
      continue;
    }
    if (!clean) continue;  // a block that the writer did not read
    StoreReader reader(path("damaged"));
    for (std::uint64_t i = 0; i < payloads_.size(); ++i) {
      ASSERT_TRUE(reader.payload(i) == payloads_[i]);
    }
  }
}

TEST_F(StoreDamage, FilesOfOthers) {
  for (const std::string& bytes : {std::string("text"), std::string(100'000, '\0')}) {
    write(bytes);
    EXPECT_FALSE(is_clean());
  }
}

TEST_F(StoreDamage, AFullStoreKeepsWhatItHas) {
  constexpr std::size_t kMaxBytes = 1 << 20;
  std::uint64_t committed = 0;
  {
    StoreWriter writer(path("small"), {{"m", 1}}, simulator_.addresses(), kMaxBytes);
    const auto fill = [&] {
      for (std::size_t i = 0;; ++i) {
        writer.append(traces_[i % traces_.size()]);
        if (i % 100 == 99) writer.commit();
        committed = writer.committed();
      }
    };
    try {
      fill();
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find("as large as it may become"), std::string::npos);
    }
  }
  EXPECT_GT(committed, 500u);
  {
    StoreReader reader(path("small"));
    ASSERT_EQ(reader.size(), committed);
    for (std::size_t i = 0; i < 500; ++i) expect_same(traces_[i], reader.read(i));
  }
  // And it goes on once there is room.
  StoreWriter writer(path("small"), {{"m", 1}}, simulator_.addresses());
  EXPECT_EQ(writer.size(), committed);
  writer.append(traces_[0]);
  writer.commit();
}

}  // namespace
}  // namespace psn
