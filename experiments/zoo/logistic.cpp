// Logistic regression: a neuron that fires or not in each of a hundred steps, driven by the last
// nine values of a stimulus through a smooth filter (the benchmark's Bernoulli GLM, as it fires).
#include <array>
#include <cmath>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/zoo.h"

namespace psn::zoo {
namespace {

constexpr std::size_t kFilter = 9;
// White noise, frozen: the benchmark's, to four places.
constexpr std::array<double, 100> kStimulus = {
    0.4967,  -0.1383, 0.6477,  1.5230,  -0.2342, -0.2341, 1.5792,  0.7674,  -0.4695, 0.5426,
    -0.4634, -0.4657, 0.2420,  -1.9133, -1.7249, -0.5623, -1.0128, 0.3142,  -0.9080, -1.4123,
    1.4656,  -0.2258, 0.0675,  -1.4247, -0.5444, 0.1109,  -1.1510, 0.3757,  -0.6006, -0.2917,
    -0.6017, 1.8523,  -0.0135, -1.0577, 0.8225,  -1.2208, 0.2089,  -1.9597, -1.3282, 0.1969,
    0.7385,  0.1714,  -0.1156, -0.3011, -1.4785, -0.7198, -0.4606, 1.0571,  0.3436,  -1.7630,
    0.3241,  -0.3851, -0.6769, 0.6117,  1.0310,  0.9313,  -0.8392, -0.3092, 0.3313,  0.9755,
    -0.4792, -0.1857, -1.1063, -1.1962, 0.8125,  1.3562,  -0.0720, 1.0035,  0.3616,  -0.6451,
    0.3614,  1.5380,  -0.0358, 1.5646,  -2.6197, 0.8219,  0.0870,  -0.2990, 0.0918,  -1.9876,
    -0.2197, 0.3571,  1.4779,  -0.5183, -0.8085, -0.5018, 0.9154,  0.3288,  -0.5298, 0.5133,
    0.0971,  0.9686,  -0.7021, -0.3277, -0.3921, -1.4635, 0.2961,  0.2611,  0.0051,  -0.2346};
// psn simulate zoo-logistic --seed 2
const std::vector<double> kSpikes = {1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0,
                                     0, 1, 0, 1, 1, 1, 1, 1, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1,
                                     0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1,
                                     1, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1,
                                     1, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 0};

void logistic_program(Context& ctx) {
  const double offset = ctx.sample(Normal(0, M_SQRT2), {.name = "offset"});
  std::array<double, kFilter> filter{};  // its second differences are small, ever more so
  for (std::size_t j = 0; j < kFilter; ++j) {
    const double stiffness = 1 + std::sqrt(static_cast<double>(j) / kFilter);
    const double ahead = (j > 0 ? 2 * filter[j - 1] : 0) - (j > 1 ? filter[j - 2] : 0);
    filter[j] = ctx.sample(Normal(ahead / stiffness, 1 / stiffness),
                           {.name = "filter", .index = static_cast<std::int64_t>(j)});
  }
  std::vector<double> firing;
  for (std::size_t t = 0; t < kStimulus.size(); ++t) {
    double drive = offset;
    for (std::size_t j = 0; j < std::min(kFilter, t + 1); ++j)
      drive += filter[j] * kStimulus[t - j];
    firing.push_back(1 / (1 + std::exp(-drive)));
  }
  ctx.observe(Bernoulli(firing), {.name = "spikes"});
}

}  // namespace

Program logistic() {
  std::vector<Query> judged = {{"offset"}};
  for (std::size_t j = 0; j < kFilter; ++j) judged.push_back({"filter_" + std::to_string(j)});
  return {.model = {"zoo-logistic", logistic_program,
                    "logistic regression: ten weights, a hundred outcomes"},
          .observed = {{"spikes", kSpikes}},
          .judged = std::move(judged),
          .source = "a long Markov chain over the weights, in independent code",
          .answer = references::logistic,
          .long_run = [] { return references::logistic_long_run(kStimulus, kSpikes); },
          .draw =
              [](std::size_t rows, std::uint64_t seed) {
                return references::draw_logistic(kStimulus, kSpikes, rows, seed);
              }};
}

}  // namespace psn::zoo
