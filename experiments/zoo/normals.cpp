// Ten normal means, each measured once with noise (the benchmark's Gaussian Linear and Gaussian
// Linear Uniform), written with scalars and with one vector.
#include <cmath>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/zoo.h"

namespace psn::zoo {
namespace {

constexpr std::int64_t kNormals = 10;
const double kNormalsSd = std::sqrt(0.1);  // of the noise, and of the Gaussian prior
// psn simulate zoo-normals --seed 1
const std::vector<double> kMeasured = {0.446, 0.38,   -0.078, 0.481,  -0.127,
                                       0.116, -0.317, 0.014,  -0.464, 0.624};

void normals_program(Context& ctx, const Distribution& prior) {
  for (std::int64_t i = 0; i < kNormals; ++i) {
    const double theta = ctx.sample(prior, {.name = "theta", .index = i});
    ctx.observe(Normal(theta, kNormalsSd), {.name = "x", .index = i});
  }
}

void normals_vector_program(Context& ctx, const Distribution& prior) {
  const Value theta = ctx.sample(prior, {.name = "theta"});
  ctx.observe(Normal(theta, kNormalsSd), {.name = "x"});
}

Program normals_with(Model model, bool uniform, bool vector) {
  std::vector<Query> judged;
  if (vector) {
    judged.push_back({"theta", {kNormals}});
  } else {
    for (std::int64_t i = 0; i < kNormals; ++i) judged.push_back({"theta_" + std::to_string(i)});
  }
  return {.model = std::move(model),
          .observed = {{"x", kMeasured}},
          .judged = std::move(judged),
          .source = uniform ? "a normal between the prior's ends" : "conjugacy",
          .answer = [uniform] { return references::normals(kMeasured, uniform); },
          .draw =
              [uniform](std::size_t rows, std::uint64_t seed) {
                return references::draw_normals(kMeasured, uniform, rows, seed);
              }};
}

Value repeated(double x) {
  return std::vector<double>(kNormals, x);
}

}  // namespace

Program normals() {
  const auto program = [](Context& ctx) { normals_program(ctx, Normal(0, kNormalsSd)); };
  return normals_with({"zoo-normals", program, "ten normal means, each measured once"}, false,
                      false);
}

Program normals_vector() {
  const auto program = [](Context& ctx) {
    normals_vector_program(ctx, Normal(repeated(0), kNormalsSd));
  };
  return normals_with({"zoo-normals-vector", program, "the same as one vector"}, false, true);
}

Program normals_uniform() {
  const auto program = [](Context& ctx) { normals_program(ctx, Uniform(-1, 1)); };
  return normals_with({"zoo-normals-uniform", program, "the same with a uniform prior"}, true,
                      false);
}

Program normals_uniform_vector() {
  const auto program = [](Context& ctx) {
    normals_vector_program(ctx, Uniform(repeated(-1), repeated(1)));
  };
  return normals_with({"zoo-normals-uniform-vector", program, "the same as one vector"}, true,
                      true);
}

}  // namespace psn::zoo
