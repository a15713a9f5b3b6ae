// A line through fifty points, some of which are far off: a plate with a latent for every point.
#include "experiments/zoo/references/references.h"
#include "experiments/zoo/zoo.h"

namespace psn::zoo {
namespace {

// psn simulate zoo-outliers --seed 1 --given share=0.15
const std::vector<double> kScattered = {
    -3.712, -3.339, -2.858, -3.067, -2.606, -3.637, -3.605, -3.861, -2.167, -1.721,
    -2.362, -1.259, -1.028, -2.044, -0.956, -1.376, -1.557, -1.105, -1.771, -1.19,
    -1.255, -0.284, -1.16,  -1.1,   -0.064, -0.5,   -0.835, -0.501, -0.622, 0.078,
    0.743,  -0.331, -0.198, -3.747, 0.335,  7.097,  1.023,  0.607,  1.576,  1.747,
    0.999,  2.881,  1.651,  1.225,  2.842,  2.028,  2.622,  2.71,   8.749,  3.186};

void outliers_program(Context& ctx) {
  constexpr std::int64_t kPoints = 50;
  const double intercept = ctx.sample(Normal(0, 2), {.name = "intercept"});
  const double slope = ctx.sample(Normal(0, 2), {.name = "slope"});
  const double share = ctx.sample(Beta(1, 4), {.name = "share"});
  for (std::int64_t i = 0; i < kPoints; ++i) {
    const double x = static_cast<double>(i) / 25 - 1;
    const Value outlier = ctx.sample(Bernoulli(share), {.name = "outlier", .index = i});
    const double noise = outlier == 1 ? 4 : 0.5;
    ctx.observe(Normal(intercept + slope * x, noise), {.name = "y", .index = i});
  }
}

}  // namespace

Program outliers() {
  return {
      .model = {"zoo-outliers", outliers_program, "a line through fifty points with outliers"},
      .observed = {{"y", kScattered}},
      .judged = {{"intercept"}, {"slope"}, {"share"}},
      .source = "quadrature over three parameters; outliers summed out",
      .answer = [] { return references::outliers(kScattered); },
      .draw = [](std::size_t rows,
                 std::uint64_t seed) { return references::draw_outliers(kScattered, rows, seed); }};
}

}  // namespace psn::zoo
