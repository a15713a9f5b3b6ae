// A binary tree that grows by recursion; what is seen is the mass of all its leaves.
#include "experiments/zoo/references/references.h"
#include "experiments/zoo/zoo.h"

namespace psn::zoo {
namespace {

// psn simulate zoo-tree --seed 3 --given vigour=0.6
constexpr double kHarvest = 19.789;

struct Tree {
  double mass = 0, leaves = 0;
};

Tree grow(Context& ctx, double vigour, int depth) {
  constexpr int kDeepest = 6;
  if (depth == kDeepest || ctx.sample(Bernoulli(vigour), {.name = "splits"}) == 0) {
    return {ctx.sample(Normal(1, 0.3), {.name = "leaf"}), 1};
  }
  Tree tree;
  for (const char* side : {"left", "right"}) {
    const auto scope = ctx.scope(side);
    const Tree branch = grow(ctx, vigour, depth + 1);
    tree = {tree.mass + branch.mass, tree.leaves + branch.leaves};
  }
  return tree;
}

void tree_program(Context& ctx) {
  const double vigour = ctx.sample(Beta(3, 2), {.name = "vigour"});
  const Tree tree = grow(ctx, vigour, 0);
  ctx.observe(Normal(tree.mass, 0.5), {.name = "harvest"});
  ctx.tag(tree.leaves, {.name = "leaves"});
}

}  // namespace

Program tree() {
  return {.model = {"zoo-tree", tree_program, "a binary tree that grows by recursion"},
          .observed = {{"harvest", Value(kHarvest)}},
          .judged = {{"vigour"}, {"leaves"}},
          .source = "quadrature over the vigour; the number of leaves by recursion over depths",
          .answer = [] { return references::tree(kHarvest); },
          .draw = [](std::size_t rows,
                     std::uint64_t seed) { return references::draw_tree(kHarvest, rows, seed); }};
}

}  // namespace psn::zoo
