#include "psn/report/figures/pairs.h"

#include <algorithm>

#include "psn/report/vega.h"

namespace psn {
namespace {

using vega::Json;

constexpr std::size_t kPairBins = 32;

// Only what is not empty is listed.
Json pair_rows(const std::vector<double>& cells, const Grid& x, const Grid& y) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] == 0) continue;
    rows.push_back({{"x", vega::number(x.edge(i / y.bins))},
                    {"x2", vega::number(x.edge(i / y.bins + 1))},
                    {"y", vega::number(y.edge(i % y.bins))},
                    {"y2", vega::number(y.edge(i % y.bins + 1))},
                    {"share", vega::number(cells[i])}});
  }
  return rows;
}

Json point_rows(const std::vector<PairPoints>& others, std::size_t x, std::size_t y,
                const Grid& x_grid, const Grid& y_grid) {
  Json rows = Json::array();
  const auto within = [](double v, const Grid& grid) { return v >= grid.low && v <= grid.high; };
  for (const PairPoints& of : others) {
    for (std::size_t i = 0; i < std::min(of.values[x].size(), of.values[y].size()); ++i) {
      if (!within(of.values[x][i], x_grid) || !within(of.values[y][i], y_grid)) continue;
      rows.push_back({{"series", of.name},
                      {"x", vega::number(of.values[x][i])},
                      {"y", vega::number(of.values[y][i])}});
    }
  }
  return rows;
}

Json cell(Json rows, Json points, const PairVariable& x, const PairVariable& y, const Grid& x_grid,
          const Grid& y_grid) {
  Json across = vega::quantity("x", x.name), up = vega::quantity("y", y.name);
  across["scale"] = {{"domain", {vega::number(x_grid.low), vega::number(x_grid.high)}}};
  up["scale"] = {{"domain", {vega::number(y_grid.low), vega::number(y_grid.high)}}};
  across["axis"] = up["axis"] = {{"grid", false}, {"tickCount", 4}};
  const Json map{
      {"data", {{"values", std::move(rows)}}},
      {"mark", {{"type", "rect"}}},
      {"encoding",
       {{"x", across},
        {"x2", {{"field", "x2"}}},
        {"y", up},
        {"y2", {{"field", "y2"}}},
        {"color", {{"field", "share"}, {"type", "quantitative"}, {"legend", nullptr}}},
        {"tooltip", Json::array({vega::told("x", x.name + " from"), vega::told("x2", "to"),
                                 vega::told("y", y.name + " from"), vega::told("y2", "to"),
                                 vega::told("share", "share")})}}}};
  Json layers = Json::array({map});
  if (!points.empty()) {
    layers.push_back(
        {{"data", {{"values", std::move(points)}}},
         {"mark", {{"type", "point"}, {"size", 9}, {"strokeWidth", 1}}},
         {"encoding",
          {{"x", across},
           {"y", up},
           {"shape", {{"field", "series"}, {"type", "nominal"}, {"title", nullptr}}},
           {"stroke", {{"field", "series"}, {"type", "nominal"}, {"title", nullptr}}},
           {"tooltip", Json::array({vega::told("series", "of"), vega::told("x", x.name),
                                    vega::told("y", y.name)})}}}});
  }
  return {{"layer", std::move(layers)}, {"resolve", {{"scale", {{"color", "independent"}}}}}};
}

}  // namespace

Figure pair_figure(const std::vector<PairVariable>& variables, const std::vector<double>& weights,
                   const std::vector<PairPoints>& others) {
  const auto sample = [&](std::size_t v) { return Weighted{variables[v].values, weights}; };
  std::vector<Grid> grids;
  for (std::size_t v = 0; v < variables.size(); ++v) {
    grids.push_back(grid_of(sample(v), kPairBins));
  }
  Json rows = Json::array();
  for (std::size_t y = 1; y < variables.size(); ++y) {
    Json row = Json::array();
    for (std::size_t x = 0; x < y; ++x) {
      row.push_back(
          cell(pair_rows(shares(sample(x), sample(y), grids[x], grids[y]), grids[x], grids[y]),
               point_rows(others, x, y, grids[x], grids[y]), variables[x], variables[y], grids[x],
               grids[y]));
    }
    rows.push_back({{"hconcat", std::move(row)}});
  }
  const Json spec{{"$schema", "https://vega.github.io/schema/vega-lite/v6.json"},
                  {"vconcat", std::move(rows)},
                  {"resolve", {{"scale", {{"color", "independent"}}}}},
                  {"usermeta", {{"columns", variables.size() - 1}, {"renderer", "canvas"}}}};
  std::string reading =
      "Each square shows which values of two variables go together: the stronger the "
      "colour, the more probable. A slanted or curved shape means that knowing one of "
      "them tells something of the other.";
  if (!others.empty()) reading += " Points are a few draws of the others, where they fall within.";
  return {.name = "pairs",
          .title = "Pairs of variables",
          .reading = std::move(reading),
          .content = vega::text(spec),
          .wide = true};
}

}  // namespace psn
