// Programs in GSL, C, Fortran and C++ that know nothing of psn give the posteriors of the built-in
// models that they are twins of, by engines that weigh and by chains; and without an engine the
// library in front of them changes nothing.
#include "tests/attach/twins.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "psn/attach/simulator.h"
#include "psn/infer/importance.h"
#include "psn/infer/metropolis.h"
#include "tests/cli/command_test.h"

namespace psn {
namespace {

constexpr std::uint64_t kRuns = 4000;

struct Twin {
  std::string program;
  bool chain;
};

std::vector<Twin> all_twins() {
  std::vector<Twin> all;
  for (const std::string& program : test::twins()) {
    for (const bool chain : {false, true}) all.push_back({program, chain});
  }
  return all;
}

class TwinLaw : public testing::TestWithParam<Twin> {
 protected:
  static Posterior infer(const test::TwinPart& part, std::vector<Query> queries) {
    attach::AttachedSimulator simulator(
        fmt::format("attach:{} {}", GetParam().program, part.name),
        {.settings = attach::read_settings(test::settings_of(part.name))});
    EXPECT_EQ(simulator.limits(), "");
    MetropolisOptions options;
    options.samples = kRuns;
    options.queries = std::move(queries);
    options.seed = 11;
    options.burn_in = 100;
    Posterior posterior = GetParam().chain
                              ? metropolis_hastings(simulator, part.data, options).posterior
                              : importance_sampling(simulator, part.data, options);
    EXPECT_EQ(simulator.starts(), 1u);
    return posterior;
  }
};

TEST_P(TwinLaw, GivesTheExactPosterior) {
  for (const test::TwinPart& part : test::twin_parts()) {
    SCOPED_TRACE(part.name);
    std::vector<Query> queries;
    for (const test::TwinAnswer& answer : part.answers) queries.push_back({answer.name});
    if (part.name == "branching") queries.push_back({"extra"});
    const Posterior posterior = infer(part, queries);
    for (const auto& [name, mean, sd] : part.answers) expect_mean(posterior, name, mean, sd);
    if (part.name == "branching") expect_branching(posterior, branching_answer());
  }
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
  for (const test::TwinPart& part : test::twin_parts()) {
    for (const std::string& program : test::twins()) {
      const std::string command = fmt::format("{} {}", program, part.name);
      const std::string plain = printed(command);
      EXPECT_FALSE(plain.empty()) << command;
      EXPECT_EQ(printed("LD_PRELOAD=" PSN_PRELOAD " " + command), plain) << command;
      EXPECT_EQ(printed("PSN_ATTACH='2 4' LD_PRELOAD=" PSN_PRELOAD " " + command), plain);
    }
    // With our header in front.
    EXPECT_EQ(printed(fmt::format("{} {}", PSN_TWIN_RANDOM, part.name)),
              printed(fmt::format("{} {}", PSN_TWIN_RANDOM_PLAIN, part.name)));
  }
}

}  // namespace
}  // namespace psn
