// Sources of traces: what each of several readers takes, and going on where one stopped.
#include "psn/core/trace_source.h"

#include <gtest/gtest.h>

#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/train/stream.h"

namespace psn {
namespace {

TEST(Share, ReadersTakeEveryPlaceOnceInEqualPartsOfABlock) {
  for (const std::uint32_t ranks : {1, 2, 4}) {
    std::vector<std::uint64_t> next(ranks, 0);
    for (std::uint64_t place = 0; place < 100; ++place) {
      const auto rank = static_cast<std::uint32_t>(place % 12 / (12 / ranks));
      const Share share{rank, ranks, 12};
      EXPECT_EQ(share.index(next[rank]), place);
      EXPECT_EQ(share.count_of(place), next[rank]);
      ++next[rank];
    }
  }
  EXPECT_THROW((Share{0, 2, 3}.check()), InvalidArgument);
  EXPECT_THROW((Share{2, 2, 4}.check()), InvalidArgument);
}

TEST(TraceStream, ReadersAndLaterBeginningsSeeTheSameTraces) {
  InProcess simulator(
      {"uniform", [](Context& ctx) { return ctx.sample(Uniform(0, 1), {.name = "u"}); }});
  constexpr std::uint64_t kCount = 50;  // four blocks of 12, and a part of one
  const auto read = [&](const Share& share, std::uint64_t first) {
    TraceStream stream(simulator,
                       {.seed = 3, .count = kCount, .ahead = 7, .share = share, .first = first});
    std::vector<double> values;
    std::vector<Trace> traces;
    for (stream.take(5, traces); !traces.empty(); stream.take(5, traces)) {
      for (const Trace& trace : traces) values.push_back(trace["u"].scalar());
    }
    return values;
  };
  const std::vector<double> all = read({}, 0);
  ASSERT_EQ(all.size(), kCount);
  for (const std::uint32_t rank : {0, 1, 2}) {
    const Share share{rank, 3, 12};
    const std::vector<double> part = read(share, 0);
    ASSERT_EQ(part.size(), share.count_of(kCount));
    for (std::size_t n = 0; n < part.size(); ++n) EXPECT_EQ(part[n], all[share.index(n)]);
    const std::vector<double> rest = read(share, 9);
    EXPECT_EQ(rest, std::vector<double>(part.begin() + 9, part.end()));
  }
}

}  // namespace
}  // namespace psn
