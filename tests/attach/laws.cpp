// Every law that is answered is the one that the program would have drawn from itself: means and
// deviations of many draws from psn beside those of the program's own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

#include "psn/attach/simulator.h"
#include "psn/infer/importance.h"
#include "tests/cli/command_test.h"

namespace psn {
namespace {

struct Moments {
  double mean, sd;
};
using Laws = std::map<std::string, Moments>;

Laws parsed(const std::string& printed) {
  Laws laws;
  std::istringstream lines(printed);
  std::string name;
  for (Moments m{}; lines >> name >> m.mean >> m.sd;) laws[name] = m;
  return laws;
}

class AnsweredLaws : public test::CommandTest {
 protected:
  std::string own(const std::string& program, int draws) const {
    const auto file = folder_ / "said";
    const std::string command = fmt::format("{} {} >'{}'", program, draws, file.string());
    EXPECT_EQ(std::system(command.c_str()), 0);
    return test::slurp(file);
  }

  void compare(const std::string& program) const {
    constexpr int kDraws = 400, kRuns = 4, kOwn = 100'000;
    const Laws expected = parsed(own(program, kOwn));
    std::map<std::string, std::vector<Moments>> answered;
    attach::AttachOptions options;
    options.ended = [&](const attach::Leavings& run) {
      for (const auto& [name, moments] : parsed(run.printed)) answered[name].push_back(moments);
    };
    attach::AttachedSimulator simulator(fmt::format("attach:{} {}", program, kDraws), options);
    EngineOptions engine;
    engine.samples = kRuns;
    engine.seed = 8;
    simulate(simulator, engine);
    EXPECT_EQ(answered.size(), expected.size());
    for (const auto& [name, truth] : expected) {
      ASSERT_EQ(answered[name].size(), std::size_t{kRuns}) << name;
      double mean = 0, square = 0;
      for (const Moments& m : answered[name]) {
        mean += m.mean / kRuns;
        square += (m.sd * m.sd + m.mean * m.mean) / kRuns;
      }
      // 4.9 standard errors: with some 60 comparisons, one false alarm in 15,000 seeds. Deviations
      // vary more, by the fourth moment; a law that is wrong is so by more than a sixth.
      const double error = truth.sd * std::sqrt(1.0 / (kDraws * kRuns) + 1.0 / kOwn);
      EXPECT_NEAR(mean, truth.mean, 4.9 * error) << name;
      EXPECT_NEAR(std::sqrt(square - mean * mean), truth.sd, truth.sd / 6) << name;
    }
  }
};

TEST_F(AnsweredLaws, OfGsl) {
  ASSERT_NE(*PSN_LAWS_GSL, '\0') << "scripts/setup installs GSL";
  compare(PSN_LAWS_GSL);
  EXPECT_EQ(own("LD_PRELOAD=" PSN_PRELOAD " " PSN_LAWS_GSL, 50), own(PSN_LAWS_GSL, 50));
}

TEST_F(AnsweredLaws, OfRandom) {
  compare(PSN_LAWS_RANDOM);
  // Without psn, and with or without its header, the very same numbers.
  EXPECT_EQ(own(PSN_LAWS_RANDOM, 50), own(PSN_LAWS_RANDOM_PLAIN, 50));
}

}  // namespace
}  // namespace psn
