// Five parameters of a bivariate normal from four draws (the benchmark's SLCP: a simple likelihood,
// a complex posterior, of four modes). With scalars, and with vectors.
#include <cmath>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/zoo.h"

namespace psn::zoo {
namespace {

constexpr std::int64_t kSlcpParameters = 5, kSlcpPoints = 4;
// psn simulate zoo-slcp --seed 1 --given theta_0=.7 theta_1=-2 theta_2=-1 theta_3=-.9 theta_4=.6
const std::vector<double> kSlcpX = {0.484, 1.953, 0.019, 1.083},
                          kSlcpY = {-0.983, -1.49, -2, -1.056};

// y given x is normal around a line.
struct Bivariate {
  double mean_x, sd_x, mean_y, slope, sd_y;
};

Bivariate bivariate(const Value& theta) {
  constexpr double kJitter = 1e-6;  // keeps the covariance definite
  const double sd_x = theta[2] * theta[2], sd_y = theta[3] * theta[3];
  const double xx = sd_x * sd_x + kJitter, yy = sd_y * sd_y + kJitter;
  const double xy = std::tanh(theta[4]) * sd_x * sd_y;
  return {theta[0], std::sqrt(xx), theta[1], xy / xx, std::sqrt(yy - xy * xy / xx)};
}

void slcp_program(Context& ctx) {
  std::vector<double> theta;
  for (std::int64_t i = 0; i < kSlcpParameters; ++i) {
    theta.push_back(ctx.sample(Uniform(-3, 3), {.name = "theta", .index = i}));
  }
  const Bivariate b = bivariate(theta);
  for (std::int64_t i = 0; i < kSlcpPoints; ++i) {
    const double x = ctx.observe(Normal(b.mean_x, b.sd_x), {.name = "x", .index = i});
    const double y = b.mean_y + b.slope * (x - b.mean_x);
    ctx.observe(Normal(y, b.sd_y), {.name = "y", .index = i});
  }
}

void slcp_vector_program(Context& ctx) {
  const std::vector<double> low(kSlcpParameters, -3), high(kSlcpParameters, 3);
  const Bivariate b = bivariate(ctx.sample(Uniform(low, high), {.name = "theta"}));
  const std::vector<double> mean_x(kSlcpPoints, b.mean_x);
  std::vector<double> mean_y;
  for (const double x : ctx.observe(Normal(mean_x, b.sd_x), {.name = "x"})) {
    mean_y.push_back(b.mean_y + b.slope * (x - b.mean_x));
  }
  ctx.observe(Normal(mean_y, b.sd_y), {.name = "y"});
}

Program slcp_with(Model model, std::vector<Query> judged) {
  return {
      .model = std::move(model),
      .observed = {{"x", kSlcpX}, {"y", kSlcpY}},
      .judged = std::move(judged),
      .source = "quadrature over three parameters, two in closed form; draws by a Markov chain",
      .answer = [] { return references::slcp(kSlcpX, kSlcpY); },
      .draw = [](std::size_t rows,
                 std::uint64_t seed) { return references::draw_slcp(kSlcpX, kSlcpY, rows, seed); }};
}

}  // namespace

Program slcp() {
  return slcp_with({"zoo-slcp", slcp_program, "a bivariate normal's parameters from four draws"},
                   {{"theta_0"}, {"theta_1"}, {"theta_2"}, {"theta_3"}, {"theta_4"}});
}

Program slcp_vector() {
  return slcp_with({"zoo-slcp-vector", slcp_vector_program, "the same as one vector"},
                   {{"theta", {kSlcpParameters}}});
}

}  // namespace psn::zoo
