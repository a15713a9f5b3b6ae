// The zoo's answers against psn's own engines, and what its list promises.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "experiments/zoo/references/references.h"
#include "tests/law/zoo_agreement.h"
#include "tests/law/zoo_filter.h"

namespace psn {
namespace {

TEST(Zoo, ListsWhatIsNeededToJudge) {
  std::set<std::string> names;
  for (const zoo::Program& program : zoo::programs()) {
    SCOPED_TRACE(program.model.name);
    EXPECT_TRUE(names.insert(program.model.name).second);
    EXPECT_FALSE(program.source.empty());
    const zoo::Answer answer = program.answer();
    ASSERT_EQ(answer.mean.size(), program.components());
    ASSERT_EQ(answer.sd.size(), program.components());
    EXPECT_TRUE(answer.error.empty() || answer.error.size() == program.components());
    for (const double sd : answer.sd) EXPECT_GT(sd, 0);
    for (const double error : answer.error) EXPECT_GE(error, 0);
    EXPECT_EQ(program.long_run != nullptr, !answer.error.empty());
  }
}

// Reference draws have the reference's moments: 4.9 standard errors each (one false alarm in a
// million seeds), for draws that are independent or as good as that.
TEST(Zoo, DrawsHaveTheMomentsOfTheAnswers) {
  constexpr std::size_t kRows = 2000;
  for (const zoo::Program& program : zoo::programs()) {
    if (!program.draw) continue;
    SCOPED_TRACE(program.model.name);
    const zoo::Answer answer = program.answer();
    const std::vector<double> rows = program.draw(kRows, 7);
    ASSERT_EQ(rows.size(), kRows * program.components());
    for (std::size_t k = 0; k < program.components(); ++k) {
      double sum = 0, squares = 0, fourth = 0;
      for (std::size_t i = k; i < rows.size(); i += program.components()) {
        const double d = rows[i] - answer.mean[k];
        sum += d;
        squares += d * d;
        fourth += d * d * d * d;
      }
      const double error = answer.error.empty() ? 0 : answer.error[k];
      const double mean = sum / kRows, variance = squares / kRows;
      EXPECT_NEAR(mean, 0, kStandardErrors * std::hypot(answer.sd[k] / std::sqrt(kRows), error));
      EXPECT_NEAR(variance / (answer.sd[k] * answer.sd[k]), 1,
                  kStandardErrors * std::sqrt(fourth / kRows / (variance * variance) - 1) /
                      std::sqrt(kRows))
          << k;
    }
  }
}

class ZooAgreement : public testing::TestWithParam<ZooRun> {};

TEST_P(ZooAgreement, WithTheEngine) {
  expect_agreement(zoo_program(GetParam().name), GetParam().engine, GetParam().samples);
}

// Each with the engine that gets somewhere in seconds.
const ZooRun kZooRuns[] = {
    {"zoo-normals", Engine::kImportance, 100'000},
    {"zoo-normals-vector", Engine::kImportance, 200'000},
    {"zoo-normals-uniform", Engine::kRmh, 50'000},
    {"zoo-normals-uniform-vector", Engine::kImportance, 300'000},
    {"zoo-two-scales", Engine::kImportance, 300'000},
    {"zoo-crescents", Engine::kImportance, 300'000},
    {"zoo-slcp", Engine::kRmh, 200'000},
    {"zoo-slcp-vector", Engine::kImportance, 600'000},
    {"zoo-logistic", Engine::kRmh, 50'000},
    {"zoo-sir", Engine::kImportance, 20'000},
    {"zoo-birth-death", Engine::kImportance, 20'000},
    {"zoo-first-exit", Engine::kImportance, 50'000},
    {"zoo-tree", Engine::kImportance, 50'000},
    {"zoo-stick-breaking", Engine::kLmh, 100'000},
    {"zoo-outliers", Engine::kRmh, 60'000},
};
INSTANTIATE_TEST_SUITE_P(Fast, ZooAgreement, testing::ValuesIn(kZooRuns),
                         [](const auto& test) { return zoo_test_name(test.param.name); });

class ZooFilter : public testing::TestWithParam<ZooFilterRun> {};

TEST_P(ZooFilter, Agrees) {
  expect_filter_agreement(GetParam());
}

const ZooFilterRun kZooFilterRuns[] = {
    {"zoo-tracking", 200}, {"zoo-self-exciting", 300}, {"zoo-queues", 400}};
INSTANTIATE_TEST_SUITE_P(Fast, ZooFilter, testing::ValuesIn(kZooFilterRuns),
                         [](const auto& test) { return zoo_test_name(test.param.name); });

// What takes too many traces as it is, with less to see: the same references, other data.
TEST(ZooReference, OfAShortSentence) {  // she saw she on she
  zoo::Program program = zoo_program("zoo-grammar");
  const std::vector<double> heard = {9, 5, 9, 8, 9, 10, 10, 10, 10, 10, 10, 10};
  program.observed = {{"heard", heard}};
  program.answer = [&] { return zoo::references::grammar(heard); };
  expect_agreement(program, Engine::kImportance, 100'000);
}

TEST(ZooReference, OfAFewPointsOfASeries) {
  zoo::Program program = zoo_program("zoo-change-points");
  const std::vector<double> y = {2.1, 1.2, 2.5, 0.8, -0.9, -1.6, 0.1};
  program.observed = {};
  for (std::size_t t = 0; t < y.size(); ++t) program.observed.set("y_" + std::to_string(t), y[t]);
  program.judged = {{"level_0"}};
  program.answer = [&] {
    zoo::Answer answer = zoo::references::change_points(y, {0});
    return zoo::Answer{{answer.mean[1]}, {answer.sd[1]}, {}, answer.log_evidence};
  };
  expect_agreement(program, Engine::kImportance, 50'000);
}

// With the parameters given, psn's particle filter has the likelihood that the reference is made
// of: its log in each run.
std::vector<double> psn_likelihood(const zoo::Program& program,
                                   const std::vector<double>& parameters, double log_prior,
                                   std::size_t particles) {
  Observations given = program.observed;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    given.set(program.judged[k].name, Value(parameters[k]));
  }
  InProcess simulator(program.model);
  const auto ensemble = simulator.ensemble(particles);
  std::vector<double> result;
  for (int i = 0; i < kFilterRuns; ++i) {
    const ZooFiltered filtered = filter_once(*ensemble, program, given, 100 + i);
    result.push_back(filtered.log_evidence - log_prior);
  }
  return result;
}

// The mean of exp(x - origin), with its error.
Ratio average(const std::vector<double>& logs, double origin) {
  std::vector<double> values;
  for (const double x : logs) values.push_back(std::exp(x - origin));
  return ratio(std::vector<double>(logs.size(), 1), values);
}

TEST(ZooLikelihood, Volatility) {
  const zoo::Program program = zoo_program("zoo-volatility");
  const Value returns = program.observed.values().at("return");
  const double level = -0.3, persistence = 0.93, spread = 0.3;
  const double log_prior = family::Normal::log_prob({0, 1}, level) - std::log(0.29) +
                           family::LogNormal::log_prob({std::log(0.3), 0.5}, spread);
  const double exact =
      zoo::references::volatility_likelihood(returns.components(), level, persistence, spread);
  const Ratio ratio =
      average(psn_likelihood(program, {level, persistence, spread}, log_prior, 150), exact);
  EXPECT_LT(ratio.error, 0.25);
  EXPECT_NEAR(ratio.value, 1, kFilterErrors * ratio.error);
}

TEST(ZooLikelihood, PredatorsAndPrey) {
  const zoo::Program program = zoo_program("zoo-predator-prey");
  std::vector<double> census;
  for (int t = 0; t < 6; ++t) {
    const Value& seen = program.observed.values().at("seen_" + std::to_string(t));
    census.insert(census.end(), seen.begin(), seen.end());
  }
  const std::vector<double> rates = {0.7, 0.011, 0.6}, centre = {0.8, 0.01, 0.5};
  double log_prior = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    log_prior += family::LogNormal::log_prob({std::log(centre[k]), 0.3}, rates[k]);
  }
  Rng rng(1);
  std::vector<double> independent;
  for (int i = 0; i < kFilterRuns; ++i) {
    independent.push_back(zoo::references::predator_prey_likelihood(census, rates, 150, rng));
  }
  const double origin = log_sum_exp(independent) - std::log(kFilterRuns);
  const Ratio theirs = average(independent, origin);
  const Ratio ours = average(psn_likelihood(program, rates, log_prior, 100), origin);
  EXPECT_LT(std::hypot(theirs.error, ours.error), 0.4);
  EXPECT_NEAR(ours.value, theirs.value, kFilterErrors * std::hypot(theirs.error, ours.error));
}

}  // namespace
}  // namespace psn
