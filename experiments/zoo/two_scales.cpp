// A broad and a narrow Gaussian around one unknown mean (the benchmark's Gaussian Mixture).
#include "experiments/zoo/references/references.h"
#include "experiments/zoo/zoo.h"

namespace psn::zoo {
namespace {

// psn simulate zoo-two-scales --seed 3
const std::vector<double> kTwoScalesPoint = {-1.257, 6.576};

void two_scales_program(Context& ctx) {
  const Value theta = ctx.sample(Uniform(Value{-10, -10}, Value{10, 10}), {.name = "theta"});
  ctx.observe(Mixture({0.5, 0.5}, {Normal(theta, 1), Normal(theta, 0.1)}), {.name = "x"});
}

}  // namespace

Program two_scales() {
  return {.model = {"zoo-two-scales", two_scales_program,
                    "a broad and a narrow Gaussian around one mean"},
          .observed = {{"x", kTwoScalesPoint}},
          .judged = {{"theta", {2}}},
          .source = "closed form",
          .answer = [] { return references::two_scales(kTwoScalesPoint); },
          .draw =
              [](std::size_t rows, std::uint64_t seed) {
                return references::draw_two_scales(kTwoScalesPoint, rows, seed);
              }};
}

}  // namespace psn::zoo
