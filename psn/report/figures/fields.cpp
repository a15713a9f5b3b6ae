#include "psn/report/figures/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "psn/base/numerics.h"
#include "psn/report/vega.h"

namespace psn {
namespace {

using vega::Json;

// Four digits are more than a colour shows.
Json field_values(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double x : values) {
    list.push_back(std::isfinite(x) ? Json(std::strtod(fmt::format("{:.4g}", x).c_str(), nullptr))
                                    : Json(nullptr));
  }
  return list;
}

std::pair<double, double> field_range(const FieldFigure& figure) {
  double low = kInfinity, high = -kInfinity;
  for (const FieldFigure::Panel& panel : figure.panels) {
    for (const auto& sample : panel.samples) {
      for (const double x : sample) {
        if (!std::isfinite(x)) continue;
        low = std::min(low, x);
        high = std::max(high, x);
      }
    }
  }
  return {low, high};
}

// The place of the n-th value, counted from one, in the matrix.
Json place(const char* as, const std::string& index, const MatrixAxis& axis, double shift) {
  return {{"calculate", fmt::format("{} + {} * ({} + {})", axis.start, axis.step, index, shift)},
          {"as", as}};
}

Json panel_view(const FieldFigure& figure, const FieldFigure::Panel& panel,
                std::pair<double, double> range) {
  Json rows = Json::array();
  for (std::size_t s = 0; s < panel.samples.size(); ++s) {
    rows.push_back(
        {{"panel", panel.title}, {"sample", s + 1}, {"values", field_values(panel.samples[s])}});
  }
  const std::string row = fmt::format("floor((datum.n - 1) / {})", figure.width);
  const std::string column = fmt::format("((datum.n - 1) % {})", figure.width);
  Json transform = Json::array();
  if (panel.samples.size() > 1) transform.push_back({{"filter", "datum.sample === sample"}});
  transform.push_back({{"flatten", {"values"}}, {"as", {"value"}}});
  transform.push_back({{"window", Json::array({{{"op", "row_number"}, {"as", "n"}}})}});
  transform.push_back(place("x", row, figure.rows, 0));
  transform.push_back(place("x2", row, figure.rows, 1));
  transform.push_back(place("y", column, figure.columns, 0));
  transform.push_back(place("y2", column, figure.columns, 1));
  Json x = vega::quantity("x", figure.rows.title), y = vega::quantity("y", figure.columns.title);
  for (Json* axis : {&x, &y}) {
    (*axis)["scale"] = {{"zero", false}, {"nice", false}};
    (*axis)["axis"] = {{"grid", false}};
  }
  const Json colour{
      {"field", "value"},
      {"type", "quantitative"},
      {"title", figure.unit},
      {"scale", {{"domain", {vega::number(range.first), vega::number(range.second)}}}}};
  Json edge = colour;  // so that no seams are seen between cells
  edge["legend"] = nullptr;
  return {{"title", panel.title},
          {"data", {{"values", std::move(rows)}}},
          {"transform", std::move(transform)},
          {"mark", {{"type", "rect"}, {"strokeWidth", 0.7}}},
          {"encoding",
           {{"x", x},
            {"x2", {{"field", "x2"}}},
            {"y", y},
            {"y2", {{"field", "y2"}}},
            {"color", colour},
            {"stroke", edge},
            {"tooltip",
             Json::array({vega::told("x", figure.rows.title), vega::told("y", figure.columns.title),
                          vega::told("value", figure.unit)})}}}};
}

}  // namespace

Figure field_figure(const FieldFigure& figure) {
  const auto range = field_range(figure);
  Json views = Json::array();
  for (const FieldFigure::Panel& panel : figure.panels) {
    views.push_back(panel_view(figure, panel, range));
  }
  Json spec{{"$schema", "https://vega.github.io/schema/vega-lite/v6.json"},
            {"hconcat", std::move(views)},
            {"usermeta",
             {{"columns", figure.panels.size()},
              {"most", 480},
              {"aspect", 0.7},
              {"renderer", "canvas"}}}};
  const std::size_t samples = figure.panels.front().samples.size();
  if (samples > 1) {
    spec["params"] = Json::array(
        {{{"name", "sample"},
          {"value", 1},
          {"bind",
           {{"input", "range"}, {"min", 1}, {"max", samples}, {"step", 1}, {"name", "Sample "}}}}});
  }
  return {.name = figure_name(figure.title),
          .title = figure.title,
          .reading = figure.reading,
          .content = vega::text(spec),
          .wide = figure.panels.size() > 1};
}

}  // namespace psn
