// psn report, and the pages that other commands leave.
#include "tests/cli/command_test.h"

namespace psn::test {
namespace {

class ReportCommands : public CommandTest {
 protected:
  bool has(const std::string& file) const { return std::filesystem::exists(folder_ / file); }
  void write(const std::string& file, const std::string& content) const {
    std::filesystem::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file) << content;
  }
};

TEST_F(ReportCommands, AnInferenceLeavesAPageAndSaysWhere) {
  const Outcome outcome = psn("infer control-flow --observe x=5 -n 2000 --out post");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("report: post/report.html"), std::string::npos);
  const std::string page = slurp(folder_ / "post/report.html");
  EXPECT_NE(page.find("<h4 id=\"theta-title\">theta</h4>"), std::string::npos);
  EXPECT_NE(page.find("data-kind=\"inference\""), std::string::npos);
  EXPECT_LT(page.size(), 2'000'000u);
}

TEST_F(ReportCommands, SeveralResultsAreOnePageWithThePriorOfOneInAnother) {
  ASSERT_EQ(psn("infer gaussian --observe obs0=8 --engine lmh -n 2000 --out post").code, 0);
  ASSERT_EQ(psn("simulate gaussian -n 2000 --out runs").code, 0);
  ASSERT_EQ(psn("report post").code, 0);
  EXPECT_EQ(slurp(folder_ / "report.html").find("\"series\":\"prior\""), std::string::npos);
  const auto contents = json("report runs post --out both.html");
  EXPECT_EQ(contents["parts"][0]["kind"], "simulation");
  EXPECT_EQ(contents["parts"][1]["kind"], "inference");
  EXPECT_NE(slurp(folder_ / "both.html").find("\"series\":\"prior\""), std::string::npos);
}

TEST_F(ReportCommands, TheExactAnswerIsDrawnBesideAPosteriorOfTheSameData) {
  ASSERT_EQ(psn("infer control-flow --observe x=5 --engine lmh -n 2000 --out post").code, 0);
  ASSERT_EQ(psn("exact --x 5 --out exact").code, 0);
  EXPECT_NE(slurp(folder_ / "exact/report.html").find("data-kind=\"exact\""), std::string::npos);
  ASSERT_EQ(psn("report post exact --out same.html").code, 0);
  const std::string same = slurp(folder_ / "same.html");
  EXPECT_NE(same.find("\"series\":\"exact\""), std::string::npos);
  EXPECT_EQ(same.find("of other observations"), std::string::npos);

  ASSERT_EQ(psn("exact --x 4 --out exact").code, 0);
  ASSERT_EQ(psn("report post exact --out other.html").code, 0);
  const std::string other = slurp(folder_ / "other.html");
  EXPECT_EQ(other.find("\"series\":\"exact\""), std::string::npos);
  EXPECT_NE(other.find("of other observations"), std::string::npos);
}

// Draws of the answer where it has some, its mean where it has no more; points over pairs.
TEST_F(ReportCommands, TheZoosAnswersAreDrawnToo) {
  for (const auto& [model, drawn] : {std::pair{"zoo-crescents", "\"series\":\"exact\""},
                                     std::pair{"zoo-grammar", "exact mean"}}) {
    const std::string name = model, exact = name + "/exact", post = name + "/post";
    ASSERT_EQ(psn("exact " + name + " -n 500 --out " + exact).code, 0);
    ASSERT_EQ(psn("infer " + name + " -n 100000 --out " + post + " --observations " + exact +
                  "/observations.json")
                  .code,
              0);
    ASSERT_EQ(psn("report " + post + " " + exact).code, 0);
    EXPECT_NE(slurp(folder_ / "report.html").find(drawn), std::string::npos) << name;
  }
}

TEST_F(ReportCommands, ATrainingIsReportedFromItsLogAndFromItsFile) {
  ASSERT_EQ(psn("train surrogate gaussian --out s.psn --log log --traces 2000").code, 0);
  EXPECT_TRUE(has("log/report.html"));
  EXPECT_EQ(json("report s.psn")["parts"][0]["kind"], "training");
  ASSERT_EQ(psn("compare gaussian s.psn -n 2000 --out compared").code, 0);
  const std::string page = slurp(folder_ / "compared/report.html");
  EXPECT_NE(page.find("Transitions of the surrogate"), std::string::npos);
  EXPECT_NE(page.find("data-form=\"traces\""), std::string::npos);
}

TEST_F(ReportCommands, WhatIsNoResultIsOneLine) {
  const Outcome nothing = psn("report nowhere");
  EXPECT_EQ(nothing.code, 65);
  EXPECT_EQ(nothing.err, "psn: error: 'nowhere': nothing there that psn report knows\n");
  write("damaged/summary.json", "{\"kind\": \"inference\"");
  const Outcome damaged = psn("report damaged");
  EXPECT_EQ(damaged.code, 65);
  EXPECT_NE(damaged.err.find("'damaged/summary.json' is damaged"), std::string::npos);
  write("empty/summary.json", "{\"kind\": \"criticism\"}");
  EXPECT_EQ(psn("report empty").code, 0);  // says less, and says it
  write("odd/comparison.json", "{\"kind\": \"comparison\"}");
  EXPECT_EQ(psn("report odd").code, 65);
}

TEST_F(ReportCommands, OneFigureNeedsNoBrowser) {
  ASSERT_EQ(psn("graph gaussian -n 100 --out graph").code, 0);
  ASSERT_EQ(psn("report graph --figure address-transitions --svg g.svg").code, 0);
  const std::string graph = slurp(folder_ / "g.svg");
  EXPECT_TRUE(graph.starts_with("<svg"));
  EXPECT_EQ(graph.find("pt\""), std::string::npos);  // drawings in points overlapped
  EXPECT_FALSE(has("report.html"));
  ASSERT_EQ(psn("simulate gaussian -n 500 --out runs").code, 0);
  const Outcome drawn = psn("report runs --figure mu --svg mu.svg --pdf mu.pdf --png mu.png");
  ASSERT_EQ(drawn.code, 0) << drawn.err;
  EXPECT_NE(slurp(folder_ / "mu.svg").find("<path"), std::string::npos);
  EXPECT_TRUE(slurp(folder_ / "mu.pdf").starts_with("%PDF"));
  EXPECT_TRUE(slurp(folder_ / "mu.png").starts_with("\x89PNG"));
}

TEST_F(ReportCommands, AFigureThatIsNotThereIsNamedAndAMissingProgramToo) {
  ASSERT_EQ(psn("simulate gaussian -n 500 --out runs").code, 0);
  const Outcome unknown = psn("report runs --figure mv --svg f.svg");
  EXPECT_EQ(unknown.code, 64);
  EXPECT_NE(unknown.err.find("did you mean 'mu'"), std::string::npos) << unknown.err;
  EXPECT_EQ(psn("report runs --figure mu").code, 64);
  EXPECT_EQ(psn("report runs --svg f.svg").code, 64);
  const Outcome no_node = psn("report runs --figure mu --svg f.svg", "PATH=/nowhere ");
  EXPECT_EQ(no_node.code, 65);
  EXPECT_NE(no_node.err.find("'node' is needed for figures as files"), std::string::npos);
}

TEST_F(ReportCommands, WithoutABrowserOpenSaysSo) {
  const Outcome outcome =
      psn("simulate gaussian -n 100 --out runs --open", "env -u DISPLAY -u WAYLAND_DISPLAY ");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.err.find("no browser here to open runs/report.html"), std::string::npos);
}

}  // namespace
}  // namespace psn::test
