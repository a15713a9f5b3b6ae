// A handler of signals must leave alone what the thread is at work on.
#include <gtest/gtest.h>
#include <sys/time.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "psn/base/rng.h"
#include "psn/base/signal_stack.h"
#include "psn/nn/math.h"

namespace psn {
namespace {

std::atomic<int> alarms{0};

// Blocks of memory all around the matrices; some hundred alarms fall into products.
TEST(Signals, DestroyNothingDuringAProduct) {
  const auto before = handle_signal(SIGALRM, [](int) { ++alarms; });
  const itimerval every{{0, 500}, {0, 500}};
  ::setitimer(ITIMER_REAL, &every, nullptr);
  Rng rng(1);
  while (alarms < 1'000) {
    std::vector<std::vector<char>> blocks;
    for (int i = 0; i < 50; ++i) blocks.emplace_back(1 + rng.below(20'000), 'x');
    const std::size_t m = 24 + rng.below(300), n = 24 + rng.below(300), k = 24 + rng.below(300);
    const std::vector<float> a(m * k, 1.0f), b(n * k, 1.0f);
    std::vector<float> c(m * n);
    nn::multiply_nt(m, n, k, a.data(), k, b.data(), k, 0, c.data(), n);
    ASSERT_TRUE(std::all_of(c.begin(), c.end(), [&](float x) { return x == float(k); }));
    for (const auto& block : blocks) {
      ASSERT_TRUE(std::all_of(block.begin(), block.end(), [](char x) { return x == 'x'; }));
    }
  }
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  handle_signal(SIGALRM, before);
}

}  // namespace
}  // namespace psn
