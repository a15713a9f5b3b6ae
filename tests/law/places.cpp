// Transitions to the indices of shared sites: few of them, whatever loops do, and Theorems 1 and 2
// as for any others.
#include "psn/nn/places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "psn/nn/network_file.h"
#include "psn/nn/run/evaluate.h"
#include "psn/nn/run/surrogate.h"
#include "psn/train/growth.h"
#include "tests/law/indexed_programs.h"
#include "tests/law/network_fixture.h"

namespace psn {
namespace {

using namespace test;

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

TEST(Indices, EveryBaseLeadsBackToTheIndex) {
  Indices indices;
  const std::string scopes[] = {"", "inner/"};
  Rng rng(1);
  for (const std::int64_t index : {0l, 0l, 1l, 2l, -7l, kLargest, -kLargest, 3l, 4l}) {
    const auto node = static_cast<NodeId>(2 + rng.below(3));
    const Target target{node, index};
    const std::string& scope = scopes[rng.below(2)];
    const Offsets offsets = indices.to(target, scope);
    EXPECT_EQ(offsets[static_cast<std::size_t>(Base::kAbsolute)], index);
    for (std::size_t base = 0; base < kBases; ++base) {
      if (!offsets[base]) continue;
      EXPECT_EQ(indices.from({node, static_cast<Base>(base), *offsets[base]}, scope), target);
    }
    indices.pass(target, scope);
  }
  EXPECT_EQ(indices.from({2, Base::kLast, kLargest}, ""), std::nullopt) << "beyond all numbers";
}

TEST(Cover, TakesWhatExplainsMost) {
  const auto step = [](std::int64_t last, std::int64_t own, std::int64_t index) {
    return SeenStep{{2, 3, {std::nullopt, last, own, last, index}}, 1};
  };
  const auto places = [&](std::vector<SeenStep> steps, std::vector<Place> known = {}) {
    return cover(steps, known);
  };
  // One rule for all, though no step would choose it alone.
  EXPECT_EQ(places({step(-4, 3, 0), step(-9, -2, 0), step(-2, 1, 0)}),
            (std::vector<Place>{{3, Base::kAbsolute, 0}}));
  EXPECT_EQ(places({step(1, 1, 3), step(-2, 1, 1), step(1, 1, 8)}),
            (std::vector<Place>{{3, Base::kOwn, 1}}));
  // Alone, what is rare is an absolute index at first; if that was wrong, something else.
  const std::vector<Place> first = places({step(7, 5, 9)});
  EXPECT_EQ(first, (std::vector<Place>{{3, Base::kAbsolute, 9}}));
  EXPECT_EQ(places({step(7, 4, 12)}, first), (std::vector<Place>{{3, Base::kOwn, 4}}));
}

TEST(IndexRanges, EndWhereTracesEndAgainAndAgain) {
  IndexRange list{0, 9, 1, 1}, loop{0, 3, 1, 1};
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(list.allows(10), i + 1 < static_cast<int>(IndexRange::kOften));
    list.include({0, 9, 1, 1});
    loop.include({0, 4 + i, 1, 1});
  }
  EXPECT_FALSE(list.allows(10));
  EXPECT_TRUE(list.allows(5));
  EXPECT_TRUE(loop.allows(24));
  EXPECT_FALSE(loop.allows(-1));
  list.include({0, 10, 1, 1});
  EXPECT_TRUE(list.allows(11)) << "its end was passed";
}

// A network that has met the traces, batch by batch, with random weights.
Network grown_by(std::span<const Trace> traces, std::uint64_t seed, double shaken = 0.3) {
  Network network(small_config(Addressing::kShared), seed);
  Growth growth(network);
  for (std::size_t first = 0; first < traces.size(); first += 100) {
    growth.absorb(traces.subspan(first, 100));
  }
  shake(network, shaken, seed);
  return network;
}

class Programs : public ::testing::TestWithParam<std::size_t> {
 protected:
  IndexedProgram program = indexed_programs()[GetParam()];
  InProcess simulator{program.model};
  std::vector<Trace> traces = simulate(simulator, 4000);
};
INSTANTIATE_TEST_SUITE_P(Places, Programs, ::testing::Range(std::size_t{0}, std::size_t{7}),
                         [](const auto& test) {
                           std::string name = indexed_programs()[test.param].model.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(Programs, NeedFewTransitions) {
  const Network some = grown_by(std::span(traces).first(1000), 1), all = grown_by(traces, 1);
  EXPECT_LE(all.transition_count(), program.transitions);
  EXPECT_LE(all.transition_count(), some.transition_count() + 2);
}

// Theorem 2: every trace has a probability; where the network knows all of it, growth adds nothing.
TEST_P(Programs, CanAllBeEvaluated) {
  const Network few = grown_by(std::span(traces).first(10), 2);
  const auto compiled = std::make_shared<const CompiledNetwork>(std::make_shared<Network>(few));
  const auto last = std::span(traces).last(300);
  const auto expanded = log_prob(compiled, last, UnknownEvaluation::kExpand);
  const auto known = log_prob(compiled, last, UnknownEvaluation::kZero);
  const auto renormalised = log_prob(compiled, last, UnknownEvaluation::kRenormalise);
  for (std::size_t i = 0; i < last.size(); ++i) {
    ASSERT_TRUE(std::isfinite(expanded[i]));
    if (known[i] > -INFINITY) {
      EXPECT_EQ(known[i], expanded[i]);
    }
    if (renormalised[i] > -INFINITY) {
      EXPECT_GE(renormalised[i], known[i]);
    }
    if (known[i] == -INFINITY) continue;
    const ScalarEvaluation scalar = evaluate(few, last[i]);
    EXPECT_NEAR(scalar.transitions + scalar.values, known[i], 1e-3);
  }
}

// The probabilities after a trace's choices: of every row, with what it means there.
struct State {
  NodeId at;
  std::vector<double> p;
  Targets targets;
};
std::vector<State> states(const Network& network, const Trace& trace) {
  std::vector<State> result;
  ScalarNetwork scalar(network);
  Indices indices;
  NodeId at = Network::kBegin;
  const auto note = [&](std::vector<double> logits) {
    State& state = result.emplace_back(State{at, softmax(std::move(logits)), {}});
    find_targets(network, at, indices, state.targets);
  };
  note(scalar.logits());
  for (const Entry& entry : trace.entries) {
    at = *network.find(*entry.address);
    scalar.step(at, entry.address->instance, entry.address->variable->index);
    indices.pass(network.target(at, *entry.address), entry.address->variable->site->scope);
    note(scalar.logits(entry.value));
  }
  return result;
}

// Theorem 1: what is known keeps its probability and its meaning when the network grows by what the
// other programs do with sites of the same names, and the total unknown mass stays.
TEST_P(Programs, KeepKnownProbabilitiesWhenTheNetworkGrows) {
  const Network before = grown_by(std::span(traces).first(200), 3);
  Network after = before;
  Growth growth(after);
  growth.learn_names(traces);
  InProcess twisted({"twisted", [&](Context& ctx) {
                       program.model.program(ctx);
                       for (const std::int64_t i : {40, 7, 7, -3}) {
                         for (const char* name : {"event", "left", "cell", "every"}) {
                           ctx.sample(Normal(0, 1), {.name = name, .index = i});
                         }
                       }
                       return Value();
                     }});
  growth.learn_names(simulate(twisted, 50, 2));
  EXPECT_GT(after.transition_count(), before.transition_count() + 5);
  for (std::size_t t = 0; t < 60; ++t) {
    const auto old = states(before, traces[t]), now = states(after, traces[t]);
    ASSERT_EQ(old.size(), now.size());
    for (std::size_t s = 0; s < old.size(); ++s) {
      double new_mass = 0;
      std::set<Target> meant;
      for (std::size_t row = 0; row < now[s].p.size(); ++row) {
        const auto& target = now[s].targets[row];
        EXPECT_TRUE(!target || meant.insert(*target).second) << "two rows mean the same";
        if (row == 0 || row >= old[s].p.size()) {
          new_mass += now[s].p[row];
          continue;
        }
        EXPECT_NEAR(now[s].p[row], old[s].p[row], 1e-6);
        if (old[s].targets[row]) {
          EXPECT_EQ(target, old[s].targets[row]);
        }
      }
      EXPECT_NEAR(new_mass, old[s].p[0], 1e-6);
    }
  }
}

TEST_P(Programs, GenerateAddressesOfTheSimulator) {
  const auto network = std::make_shared<const Network>(grown_by(traces, 4));
  SurrogateSimulator surrogate("s", network);
  const auto generated = simulate(surrogate, 2000);
  for (const Trace& trace : generated) {
    for (const Entry& entry : trace.entries) {
      const Variable& variable = *entry.address->variable;
      if (!variable.index) continue;
      ASSERT_TRUE(program.can_make(variable.site->name, *variable.index)) << entry.address->text;
    }
  }
  // What it makes it can evaluate, as the law of execution.
  const auto compiled = std::make_shared<const CompiledNetwork>(network);
  for (const double log_s : log_prob(compiled, generated, UnknownEvaluation::kRenormalise)) {
    ASSERT_TRUE(std::isfinite(log_s));
  }
}

// Discrete choices alone: the traces that come up have all of the probability but for the rare
// ones, and each comes up as often as its probability says.
TEST(Places, EvaluationIsTheLawOfExecution) {
  InProcess simulator({"discrete", [](Context& ctx) {
                         std::int64_t left = 0, right = 0;
                         while (ctx.sample(Bernoulli(0.5), {.name = "l", .index = left++}) == 1) {
                           ctx.sample(Bernoulli(0.5), {.name = "r", .index = right});
                           right += 2;
                         }
                         for (std::int64_t i = 0; i < 2; ++i) {
                           ctx.sample(Bernoulli(0.5), {.name = "end", .index = i});
                         }
                         return Value();
                       }});
  const auto network = std::make_shared<const Network>(grown_by(simulate(simulator, 1000), 5));
  SurrogateSimulator surrogate("s", network);
  constexpr std::size_t kCount = 40'000;
  const auto generated = simulate(surrogate, kCount);
  std::map<std::string, std::pair<const Trace*, std::size_t>> distinct;
  for (const Trace& trace : generated) {
    std::string text;
    for (const Entry& entry : trace.entries) {
      text += entry.address->text + "=" + std::to_string(entry.value.integer()) + " ";
    }
    auto& [first, count] = distinct[text];
    first = &trace;
    ++count;
  }
  double total = 0;
  for (const auto& [text, seen] : distinct) {
    const double p = std::exp(log_prob(*network, *seen.first, UnknownEvaluation::kRenormalise));
    total += p;
    EXPECT_NEAR(std::log(p), seen.first->log_transitions() + seen.first->log_joint, 1e-3) << text;
    // Five standard deviations for some thousand traces: a false alarm in 1,000 seeds.
    const double expected = kCount * p;
    EXPECT_NEAR(static_cast<double>(seen.second), expected, 5 * std::sqrt(expected) + 6) << text;
  }
  EXPECT_LE(total, 1 + 1e-6);
  EXPECT_GT(total, 0.25);  // its loops are long, so most traces are rare
}

// ---- Files of version 1, which counted every index from the last one ----

Trace rounds_then_two(AddressTable& table, int rounds) {
  Trace trace;
  const auto add = [&](const char* name, std::int64_t index, double value) {
    Entry& entry = trace.entries.emplace_back();
    entry.address = table.address(
        table.variable({.base = name, .name = name, .type = "Normal", .index = index}), 1);
    entry.value = value;
  };
  for (int i = 0; i < rounds; ++i) add("z", i, 0.5 - 0.25 * i);
  for (int i = 0; i < 2; ++i) add("r", i, 0.1 + i);
  return trace;
}

TEST(OldFiles, GiveTheSameNumbers) {
  const auto network = load_network(PSN_SOURCE "/tests/unit/files/shared-indices-1.psn").network;
  EXPECT_EQ(network->transition_count(), 15u);
  const double literal[] = {-8.71065155, -11.3093722, -13.8427494, -16.4041427, -21.681761,
                            -22.8027934, -26.84924,   -31.4389424, -37.9649542, -42.4383904};
  const double renormalised[] = {-7.59497607, -10.1929584, -12.7254009, -15.2857531, -20.5622772,
                                 -21.6822201, -25.7275863, -30.316206,  -36.8410971, -41.313422};
  const auto again = parse_network(serialize_network({network, ""}), "version 2").network;
  AddressTable table;
  for (int rounds = 1; rounds <= 10; ++rounds) {
    const Trace trace = rounds_then_two(table, rounds);
    for (const Network* either : {network.get(), again.get()}) {
      const auto value = [&](UnknownEvaluation how) { return log_prob(*either, trace, how); };
      EXPECT_NEAR(value(UnknownEvaluation::kZero), literal[rounds - 1], 1e-5);
      EXPECT_NEAR(value(UnknownEvaluation::kRenormalise), renormalised[rounds - 1], 1e-5);
    }
  }
  EXPECT_EQ(log_prob(*network, rounds_then_two(table, 11), UnknownEvaluation::kZero), -INFINITY);
}

}  // namespace
}  // namespace psn
