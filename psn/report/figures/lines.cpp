#include "psn/report/figures/lines.h"

#include <algorithm>
#include <cmath>

#include "psn/report/vega.h"

namespace psn {
namespace {

using vega::Json;

// What has no place on a logarithmic axis is left out.
bool can_be_drawn(double x, bool logarithmic) {
  return std::isfinite(x) && (!logarithmic || x > 0);
}

Json line_rows(const LineFigure& figure) {
  Json rows = Json::array();
  for (const Line& line : figure.lines) {
    for (std::size_t i = 0; i < line.x.size(); ++i) {
      if (!can_be_drawn(line.x[i], figure.log_x) || !can_be_drawn(line.y[i], figure.log_y))
        continue;
      Json row{{"line", line.name}, {"x", vega::number(line.x[i])}, {"y", vega::number(line.y[i])}};
      if (!line.low.empty()) {
        row["low"] = vega::number(line.low[i]);
        row["high"] = vega::number(line.high[i]);
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

Json chooser(const std::vector<Line>& lines) {
  Json names = Json::array();
  for (const Line& line : lines) names.push_back(line.name);
  return {{"name", "shown"},
          {"value", lines.front().name},
          {"bind", {{"input", "select"}, {"options", names}, {"name", "Shown: "}}}};
}

}  // namespace

Line thinned(Line line, std::size_t most) {
  const std::size_t count = line.x.size();
  if (count <= most) return line;
  for (std::vector<double>* values : {&line.x, &line.y, &line.low, &line.high}) {
    if (values->empty()) continue;
    for (std::size_t i = 0; i < most; ++i) (*values)[i] = (*values)[i * (count - 1) / (most - 1)];
    values->resize(most);
  }
  return line;
}

Figure line_figure(const LineFigure& figure) {
  const auto axis = [](const char* field, const std::string& title, bool logarithmic) {
    return logarithmic ? vega::logarithmic(field, title) : vega::quantity(field, title);
  };
  const Json x = axis("x", figure.x, figure.log_x), y = axis("y", figure.y, figure.log_y);
  const bool bands = std::any_of(figure.lines.begin(), figure.lines.end(),
                                 [](const Line& line) { return !line.low.empty(); });
  const bool choose = figure.one_at_a_time && figure.lines.size() > 1;
  const Json colour = vega::colour("line", figure.lines.size() > 1 && !choose);
  Json layers = Json::array();
  if (bands) {
    Json low = y;
    low["field"] = "low";
    layers.push_back(
        {{"mark", {{"type", "area"}, {"opacity", 0.2}}},
         {"encoding", {{"x", x}, {"y", low}, {"y2", {{"field", "high"}}}, {"color", colour}}}});
  }
  layers.push_back(
      {{"params", Json::array({vega::zoom()})},
       {"mark", {{"type", "line"}, {"point", figure.marks}, {"clip", true}}},
       {"encoding",
        {{"x", x},
         {"y", y},
         {"color", colour},
         {"tooltip", Json::array({vega::told("line", "line"), vega::told("x", figure.x),
                                  vega::told("y", figure.y)})}}}});
  Json spec = vega::chart(line_rows(figure), 240);
  if (choose) {
    spec["params"] = Json::array({chooser(figure.lines)});
    spec["transform"] = Json::array({{{"filter", "datum.line === shown"}}});
  }
  spec["layer"] = std::move(layers);
  return {.name = figure_name(figure.title),
          .title = figure.title,
          .reading = figure.reading,
          .content = vega::text(spec)};
}

}  // namespace psn
