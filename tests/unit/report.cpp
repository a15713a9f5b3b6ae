// What reports are made of: counts on grids, figures, drawings, the page.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "psn/base/numerics.h"
#include "psn/report/binning.h"
#include "psn/report/figures/density.h"
#include "psn/report/figures/graph.h"
#include "psn/report/figures/lines.h"
#include "psn/report/page.h"

namespace psn {
namespace {

TEST(Binning, QuantilesGoByWeight) {
  const std::vector<double> values{3, 1, kNaN, 2}, weights{1, 2, 100, 1};
  const std::vector<double> ps{0.25, 0.5, 0.75, 1};
  EXPECT_EQ(weighted_quantiles({values, weights}, ps), (std::vector<double>{1, 1, 2, 3}));
}

TEST(Binning, DensitiesIntegrateToTheShareOnTheGrid) {
  const std::vector<double> values{0.1, 0.1, 0.6, 5}, weights{1, 1, 2, 4};
  const Grid grid{0, 1, 2};
  EXPECT_EQ(densities({values, weights}, grid), (std::vector<double>{0.5, 0.5}));
}

TEST(Binning, WholeNumbersHaveABinEach) {
  const std::vector<double> values{0, 1, 1, 3};
  const Grid grid = grid_of({values, {}}, 50);
  EXPECT_TRUE(grid.whole);
  EXPECT_EQ(grid.bins, 4u);
  EXPECT_EQ(densities({values, {}}, grid), (std::vector<double>{0.25, 0.5, 0, 0.25}));
}

TEST(Binning, OneOutlierDoesNotHideTheRest) {
  std::vector<double> values(10'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i) / 10'000;
  values[17] = 1e9;
  EXPECT_LT(grid_of({values, {}}, 40).high, 1.1);
}

TEST(Binning, AGridHoldsWhatDoesNotVaryAndWhatIsNotThere) {
  const std::vector<double> same{2.5, 2.5}, none{kNaN, kNaN};
  EXPECT_EQ(densities({same, {}}, grid_of({same, {}}, 40)).size(), 1u);
  EXPECT_EQ(densities({none, {}}, grid_of({none, {}}, 40)), std::vector<double>{0});
}

TEST(Binning, PairsKeepWhatGoesTogether) {
  const std::vector<double> x{0.1, 0.9, 0.9}, y{0.2, 0.8, 0.8};
  const Grid grid{0, 1, 2};
  const auto cells = shares({x, {}}, {y, {}}, grid, grid);
  EXPECT_NEAR(cells[0], 1.0 / 3, 1e-15);
  EXPECT_EQ(cells[1], 0);
  EXPECT_NEAR(cells[3], 2.0 / 3, 1e-15);
}

TEST(Figures, NamesAreForLinks) {
  EXPECT_EQ(figure_name("Posterior of mu_w (C)"), "posterior-of-mu-w-c");
  EXPECT_EQ(figure_name("\u03b8"), "figure");
}

TEST(Figures, ADensityHasItsDataInside) {
  const Figure figure =
      density_figure({.variable = "theta", .series = {{"posterior", {0, 1, 2}, {0.5, 1.5}}}});
  const auto spec = nlohmann::json::parse(figure.content);
  ASSERT_EQ(spec["data"]["values"].size(), 3u);  // and the end of the last bin
  EXPECT_EQ(spec["data"]["values"][1]["density"], 1.5);
  EXPECT_FALSE(figure.reading.empty());
}

TEST(Figures, LogarithmicLinesLeaveOutWhatHasNoPlace) {
  const Figure figure =
      line_figure({.title = "KL",
                   .log_y = true,
                   .lines = {{.name = "kl", .x = {1, 2, 3}, .y = {1, -1, kNaN}}}});
  EXPECT_EQ(nlohmann::json::parse(figure.content)["data"]["values"].size(), 1u);
}

TEST(Figures, ThinnedLinesKeepTheirEnds) {
  Line line{.name = "", .x = std::vector<double>(1000), .y = std::vector<double>(1000)};
  std::iota(line.x.begin(), line.x.end(), 0);
  line = thinned(line, 10);
  EXPECT_EQ(line.x.size(), 10u);
  EXPECT_EQ(line.x.front(), 0);
  EXPECT_EQ(line.x.back(), 999);
}

TEST(Figures, AGraphShowsEachSideInOneLayout) {
  const Figure figure = graph_figure({.sides = {"simulator", "surrogate"},
                                      .edges = {{"a", "b@00000", {0.25, 0.75}, 0.01},
                                                {"a", "c", {0.75, 0.25}, 0.01},
                                                {"a", "<d>", {0, 0.02}, 0.001},
                                                {"a", "rare", {0.001, 0}, 0.001}}});
  const auto count = [&](const std::string& what) {
    std::size_t found = 0;
    for (auto at = figure.content.find(what); at != std::string::npos;
         at = figure.content.find(what, at + 1)) {
      ++found;
    }
    return found;
  };
  EXPECT_EQ(count("<svg"), 2u);
  EXPECT_EQ(count(">0.250<"), 2u);
  EXPECT_EQ(count(" more\""), 2u);
  EXPECT_EQ(count(" less\""), 1u);
  EXPECT_EQ(count("absent"), 1u);
  EXPECT_EQ(count("rare"), 0u);
  EXPECT_EQ(count("<d>"), 0u);
  EXPECT_EQ(count(">b@00000<"), 4u);  // the title and the label of its node, on each side
  EXPECT_EQ(figure.data.rows.size(), 3u);
}

TEST(Page, TextsCannotBecomeMarkup) {
  Figure figure{
      .name = "f", .title = "</script><b>", .reading = "\"", .content = "{\"a\":\"</script>\"}"};
  const std::string html =
      to_html({"<i>", {{"inference", "p", "path", {{.title = "{{parts}}", .figures = {figure}}}}}});
  EXPECT_EQ(html.find("<i>"), std::string::npos);
  EXPECT_EQ(html.find("<b>"), std::string::npos);
  EXPECT_NE(html.find("<h3>{{parts}}</h3>"), std::string::npos);
  EXPECT_NE(html.find("{\"a\":\"\\u003c/script>\"}"), std::string::npos);
}

TEST(Page, AsksForNothingElsewhere) {
  const std::string html = to_html({"title", {}});
  for (const char* what : {"<link", "src=", "@import", "url("}) {
    EXPECT_EQ(html.substr(0, html.find("<script>")).find(what), std::string::npos) << what;
  }
}

}  // namespace
}  // namespace psn
