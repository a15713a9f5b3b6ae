// A model whose runs take PSN_TEST_PAUSE milliseconds more, if that is set; with PSN_TEST_TELL it
// says that it runs.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "psn/core/plugin.h"

namespace {

psn::Value shop(psn::Context& ctx) {
  if (const char* pause = std::getenv("PSN_TEST_PAUSE")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(pause)));
  }
  if (std::getenv("PSN_TEST_TELL")) std::fputs("a run\n", stderr);
  const double rate = ctx.sample(psn::Gamma(2, 1), {.name = "rate"});
  ctx.observe(psn::Poisson(8 * rate), {.name = "count"});
  return rate;
}

}  // namespace

PSN_PLUGIN(psn::Model("shop", shop))
