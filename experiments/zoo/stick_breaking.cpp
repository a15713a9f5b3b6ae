// A mixture of as many clusters as it takes: sticks are broken when a point comes to them. How many
// points there are is seen, and differs from run to run.
#include <algorithm>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/zoo.h"

namespace psn::zoo {
namespace {

// psn simulate zoo-stick-breaking --seed 4
const std::vector<double> kClustered = {-1.463, -1.3,  -0.109, -0.946, -4.855,
                                        -4.488, -2.75, -4.051, -5.016};

void stick_breaking_program(Context& ctx) {
  std::vector<double> stick, mean;
  std::vector<std::size_t> cluster;  // of each point
  const std::int64_t points = ctx.observe(Poisson(8), {.name = "points"}).integer();
  for (std::int64_t i = 0; i < points; ++i) {
    for (std::size_t k = 0;; ++k) {
      const auto index = static_cast<std::int64_t>(k);
      if (k == stick.size()) {
        stick.push_back(ctx.sample(Beta(1, 1), {.name = "stick", .index = index}));
        mean.push_back(ctx.sample(Normal(0, 3), {.name = "mean", .index = index}));
      }
      const auto scope = ctx.scope("point", i);
      if (ctx.sample(Bernoulli(stick[k]), {.name = "here", .index = index}) == 0) continue;
      cluster.push_back(k);
      break;
    }
    ctx.observe(Normal(mean[cluster.back()], 0.8), {.name = "y", .index = i});
  }
  std::vector<bool> used(stick.size());
  for (const std::size_t k : cluster) used[k] = true;
  ctx.tag(static_cast<double>(std::count(used.begin(), used.end(), true)), {.name = "clusters"});
  ctx.tag(points > 1 && cluster[0] == cluster[1] ? 1 : 0, {.name = "together"});
  ctx.tag(points > 0 ? mean[cluster[0]] : 0, {.name = "first"});
}

Observations clustered() {
  Observations observed{{"points", Value(static_cast<double>(kClustered.size()))}};
  for (std::size_t i = 0; i < kClustered.size(); ++i) {
    observed.set("y_" + std::to_string(i), kClustered[i]);
  }
  return observed;
}

}  // namespace

Program stick_breaking() {
  return {.model = {"zoo-stick-breaking", stick_breaking_program,
                    "a mixture of as many clusters as it takes"},
          .observed = clustered(),
          .judged = {{"clusters"}, {"together"}, {"first"}},
          .source = "enumeration of all partitions of the points",
          .answer = [] { return references::stick_breaking(kClustered); }};
}

}  // namespace psn::zoo
