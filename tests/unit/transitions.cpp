#include "psn/report/transitions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "experiments/control_flow/control_flow.h"
#include "psn/core/in_process.h"
#include "psn/infer/importance.h"

namespace psn {
namespace {

TransitionGraph graph_of(InProcess& simulator, std::uint64_t traces, TransitionGraph::Nodes nodes) {
  TransitionGraph graph(nodes);
  run_traces(simulator, traces, prior_guide(),
             [&](std::uint64_t, Trace& trace) { graph.add(trace); }, {.seed = 2}, {64, 1});
  return graph;
}

double probability(const TransitionGraph& graph, const std::string& from, const std::string& to) {
  for (const auto& edge : graph.edges()) {
    if (edge.from == from && edge.to == to) return edge.probability;
  }
  return 0;
}

// P(the loop is left after the first round) = E[1 - theta] = 5/7.
TEST(Transitions, ProbabilitiesOfControlFlow) {
  constexpr std::uint64_t kTraces = 50'000;
  InProcess simulator(control_flow::model());
  const auto graph = graph_of(simulator, kTraces, TransitionGraph::Nodes::kAddresses);
  const auto tolerance = [&](double p) {  // one false alarm in 100,000
    return 4.4 * std::sqrt(p * (1 - p) / kTraces);
  };
  EXPECT_EQ(probability(graph, "begin-execution", "theta__Beta__1"), 1);
  EXPECT_EQ(probability(graph, "x__Normal__1", "end-execution"), 1);
  EXPECT_NEAR(probability(graph, "bern_0__Categorical(len_probs:2)__1", "z_1_0__Normal__1"), 0.7,
              tolerance(0.7));
  EXPECT_NEAR(probability(graph, "c_0__Categorical(len_probs:2)__1", "x__Normal__1"), 5.0 / 7,
              tolerance(5.0 / 7));
  const auto sites = graph_of(simulator, 1000, TransitionGraph::Nodes::kSites);
  EXPECT_EQ(sites.edges().size(), 9u);
}

TEST(Transitions, FormatsAreStable) {
  InProcess simulator(Model("m", [](Context& ctx) {
    ctx.sample(Normal(0, 1), {.name = "say \"hi\""});
    ctx.tag(1, {.name = "not a choice"});
  }));
  const auto graph = graph_of(simulator, 3, TransitionGraph::Nodes::kAddresses);
  EXPECT_NE(
      graph.to_dot().find("\"say \\\"hi\\\"__Normal__1\" -> \"end-execution\" [label=\"1.000\""),
      std::string::npos);
  EXPECT_EQ(graph.traces(), 3u);
  ASSERT_EQ(graph.edges().size(), 2u);
  EXPECT_EQ(graph.edges()[0].from, "begin-execution");
}

}  // namespace
}  // namespace psn
