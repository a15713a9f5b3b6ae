#include "psn/core/fiber.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <vector>

namespace psn {
namespace {

constexpr std::size_t kStack = 128 * 1024;

TEST(Fiber, SuspendsAndResumes) {
  std::vector<int> steps;
  Fiber* self = nullptr;
  Fiber fiber(
      [&] {
        for (int i = 0; i < 3; ++i) {
          steps.push_back(i);
          self->suspend();
        }
      },
      kStack);
  self = &fiber;
  for (int i = 0; i < 3; ++i) {
    fiber.resume();
    EXPECT_FALSE(fiber.finished());
    steps.push_back(10 + i);
  }
  fiber.resume();
  EXPECT_TRUE(fiber.finished());
  EXPECT_EQ(steps, (std::vector{0, 10, 1, 11, 2, 12}));
}

TEST(Fiber, AnAbandonedBodyIsUnwound) {
  auto token = std::make_shared<int>(1);
  {
    Fiber* self = nullptr;
    Fiber fiber([&self, token] { self->suspend(); }, kStack);
    self = &fiber;
    fiber.resume();
    EXPECT_GT(token.use_count(), 1);
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST(Fiber, NeverStarted) {
  const Fiber fiber([] { FAIL(); }, kStack);
}

// The C++ runtime keeps one stack of handled exceptions per thread; fibers need one each.
TEST(Fiber, SuspendsInsideACatchBlock) {
  std::vector<std::string> caught;
  std::vector<std::unique_ptr<Fiber>> fibers(3);
  for (std::size_t f = 0; f < fibers.size(); ++f) {
    fibers[f] = std::make_unique<Fiber>(
        [&, f] {
          try {
            throw std::runtime_error(std::to_string(f));
          } catch (...) {
            fibers[f]->suspend();
            try {
              throw;  // must be this fiber's own
            } catch (const std::exception& error) {
              caught.emplace_back(error.what());
            }
          }
        },
        kStack);
  }
  for (auto& fiber : fibers) fiber->resume();
  EXPECT_EQ(std::current_exception(), nullptr);
  for (auto& fiber : fibers) fiber->resume();
  EXPECT_EQ(caught, (std::vector<std::string>{"0", "1", "2"}));
}

}  // namespace
}  // namespace psn
