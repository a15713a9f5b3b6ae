// Inference networks and surrogates are learned from programs that know nothing of psn, and give
// their exact posteriors.
#include <gtest/gtest.h>

#include "tests/attach/twins.h"
#include "tests/cli/command_test.h"

namespace psn {
namespace {

class TwinNetworks : public test::CommandTest, public testing::WithParamInterface<std::string> {
 protected:
  // Six standard errors by the effective sample size.
  static void expect_answers(const nlohmann::json& result, const test::TwinPart& part,
                             double tolerance) {
    const double ess = result["ess"];
    ASSERT_GT(ess, 100) << part.name;
    for (const auto& [name, mean, sd] : part.answers) {
      EXPECT_NEAR(result["posterior"][name]["mean"].get<double>(), mean,
                  6 * sd / std::sqrt(ess) + tolerance * sd)
          << part.name << " " << name;
    }
  }
};

TEST_P(TwinNetworks, AreExactWhereTheyAreWeighed) {
  for (const test::TwinPart& part : test::twin_parts()) {
    const std::string model = fmt::format("'attach:{} {}' --attach {}", GetParam(), part.name,
                                          test::settings_of(part.name));
    psn(fmt::format("train inference {} --traces 4000 --out q.psn --quiet", model));
    std::string names;
    for (const test::TwinAnswer& answer : part.answers) names += "," + answer.name;
    const std::string asked =
        fmt::format("{} --query {} -n 2000 --seed 5", part.options, names.substr(1));
    expect_answers(json(fmt::format("infer {} --engine ic --network q.psn {}", model, asked)), part,
                   0);
    // A surrogate is its simulator but for what it has not learned: a tenth of a deviation.
    psn(fmt::format("train surrogate {} --traces 10000 --out s.psn --quiet", model));
    expect_answers(json(fmt::format("infer s.psn {}", asked)), part, 0.1);
    std::filesystem::remove(folder_ / "q.psn");
    std::filesystem::remove(folder_ / "s.psn");
  }
}

INSTANTIATE_TEST_SUITE_P(All, TwinNetworks, testing::ValuesIn(test::twins()), [](const auto& twin) {
  return twin.param.substr(twin.param.find("twin_") + 5);
});

}  // namespace
}  // namespace psn
