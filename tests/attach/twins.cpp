// Programs in GSL, C, Fortran and C++ that know nothing of psn give the posteriors of the built-in
// models that they are twins of, by engines that weigh and by chains; and without an engine the
// library in front of them changes nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "psn/attach/simulator.h"
#include "psn/infer/importance.h"
#include "psn/infer/metropolis.h"
#include "tests/cli/command_test.h"
#include "tests/law/exact_answers.h"

namespace psn {
namespace {

constexpr std::uint64_t kRuns = 2500;

std::vector<std::string> twins() {
  std::vector<std::string> programs{PSN_TWIN_LIBC, PSN_TWIN_FORTRAN, PSN_TWIN_RANDOM};
  if (*PSN_TWIN_GSL) programs.emplace_back(PSN_TWIN_GSL);
  return programs;
}

struct Twin {
  std::string program;
  bool chain;
};

std::vector<Twin> all_twins() {
  std::vector<Twin> all;
  for (const std::string& program : twins()) {
    for (const bool chain : {false, true}) all.push_back({program, chain});
  }
  return all;
}

class TwinLaw : public testing::TestWithParam<Twin> {
 protected:
  static Posterior infer(const std::string& part, const std::string& settings,
                         const Observations& data, std::vector<Query> queries) {
    attach::AttachedSimulator simulator(fmt::format("attach:{} {}", GetParam().program, part),
                                        {.settings = attach::parse_settings(settings, "settings")});
    EXPECT_EQ(simulator.limits(), "");
    MetropolisOptions options;
    options.samples = kRuns;
    options.queries = std::move(queries);
    options.seed = 11;
    const Posterior posterior = GetParam().chain
                                    ? [&] {
                                        options.burn_in = 100;
                                        return metropolis_hastings(simulator, data, options).posterior;
                                      }()
                                    : importance_sampling(simulator, data, options);
    EXPECT_EQ(simulator.starts(), 1u);
    return posterior;
  }
};

TEST_P(TwinLaw, Gaussian) {
  const auto posterior = infer("gaussian", R"toml(
    [tag.mu]
    pattern = "mean +([-+.0-9eE]+)"
    [observe.obs0]
    pattern = "mean +([-+.0-9eE]+)"
    law = "Normal"
    stddev = 1.4142135623730951
    [observe.obs1]
    pattern = "mean +([-+.0-9eE]+)"
    law = "Normal"
    stddev = 1.4142135623730951)toml",
                               {{"obs0", Value(2.0)}, {"obs1", Value(3.0)}}, {{"mu"}});
  const GaussianAnswer exact = gaussian_answer(2, 3);
  expect_moments(posterior, "mu", exact.mean, exact.sd);
}

// By enumeration of all ways through four steps.
TEST_P(TwinLaw, Hmm) {
  const auto posterior =
      infer("hmm", R"toml(
    [tag.x]
    pattern = "state ([0-2])"
    list = true
    [observe.obs]
    pattern = "level +([-+.0-9eE]+)"
    list = true
    law = "Normal"
    stddev = 1.0)toml",
            {{"obs", Value{-0.8, 0.4, 1.1, 2.4}}}, {{"x_0"}, {"x_1"}, {"x_2"}, {"x_3"}});
  const double data[] = {-0.8, 0.4, 1.1, 2.4};
  const reference::HmmParameters p;
  double total = 0, first[4] = {}, second[4] = {};
  for (int way = 0; way < 81; ++way) {
    const int states[] = {way % 3, way / 3 % 3, way / 9 % 3, way / 27};
    double weight = 1;
    for (int t = 0; t < 4; ++t) {
      weight *= t == 0 ? p.initial[states[0]] : p.transition[states[t - 1]][states[t]];
      weight *= std::exp(Distribution(Normal(p.mean[states[t]], 1)).log_prob(data[t]));
    }
    total += weight;
    for (int t = 0; t < 4; ++t) {
      first[t] += weight * states[t];
      second[t] += weight * states[t] * states[t];
    }
  }
  for (int t = 0; t < 4; ++t) {
    const double mean = first[t] / total;
    expect_mean(posterior, fmt::format("x_{}", t), mean,
                std::sqrt(second[t] / total - mean * mean));
  }
}

TEST_P(TwinLaw, Branching) {
  const auto posterior = infer("branching", R"toml(
    [tag.count]
    pattern = "count ([0-9]+)"
    [tag.extra]
    pattern = "extra ([0-9]+)"
    optional = true
    [observe.obs]
    pattern = "rate +([-+.0-9eE]+)"
    law = "Poisson")toml",
                               {{"obs", Value(6.0)}}, {{"count"}, {"extra"}});
  expect_branching(posterior, branching_answer());
}

// The number of tries is geometric, and measured with an error of one.
TEST_P(TwinLaw, LoopOfRandomLength) {
  const auto posterior = infer("loop", R"toml(
    [tag.tries]
    pattern = "tries ([0-9]+)"
    [observe.y]
    pattern = "tries ([0-9]+)"
    law = "Normal"
    stddev = 1.0)toml",
                               {{"y", Value(3.5)}}, {{"tries"}});
  double total = 0, first = 0, second = 0;
  for (int n = 1; n < 100; ++n) {
    const double p = 0.4 * std::pow(0.6, n - 1) * std::exp(-0.5 * (n - 3.5) * (n - 3.5));
    total += p;
    first += p * n;
    second += p * n * n;
  }
  const double mean = first / total;
  expect_mean(posterior, "tries", mean, std::sqrt(second / total - mean * mean));
}

INSTANTIATE_TEST_SUITE_P(All, TwinLaw, testing::ValuesIn(all_twins()), [](const auto& twin) {
  const std::string& program = twin.param.program;
  return program.substr(program.find("twin_") + 5) + (twin.param.chain ? "_chain" : "_importance");
});

class Twins : public test::CommandTest {
 protected:
  std::string printed(const std::string& command) const {
    EXPECT_EQ(std::system((command + " >" + (folder_ / "said").string()).c_str()), 0) << command;
    return test::slurp(folder_ / "said");
  }
};

TEST_F(Twins, WithoutAnEngineTheyPrintWhatTheyDidBefore) {
  for (const std::string& program : twins()) {
    for (const char* part : {"gaussian", "hmm", "branching", "loop"}) {
      const std::string command = fmt::format("{} {}", program, part);
      const std::string plain = printed(command);
      EXPECT_FALSE(plain.empty()) << command;
      EXPECT_EQ(printed("LD_PRELOAD=" PSN_PRELOAD " " + command), plain) << command;
      EXPECT_EQ(printed("PSN_ATTACH='2 4' LD_PRELOAD=" PSN_PRELOAD " " + command), plain);
    }
  }
  for (const char* part : {"gaussian", "hmm", "branching", "loop"}) {  // with our header in front
    EXPECT_EQ(printed(fmt::format("{} {}", PSN_TWIN_RANDOM, part)),
              printed(fmt::format("{} {}", PSN_TWIN_RANDOM_PLAIN, part)));
  }
}

}  // namespace
}  // namespace psn
