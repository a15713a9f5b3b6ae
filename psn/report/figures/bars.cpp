#include "psn/report/figures/bars.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "psn/report/binning.h"
#include "psn/report/vega.h"

namespace psn {
namespace {

using vega::Json;

Json bar_rows(const BarFigure& figure) {
  Json rows = Json::array();
  for (const Bar& bar : figure.bars) {
    if (!std::isfinite(bar.value) || (figure.log && bar.value <= 0)) continue;
    Json row{{"name", bar.name}, {"series", bar.series}, {"value", vega::number(bar.value)}};
    if (bar.interval) {
      row["low"] = vega::number(bar.interval->first);
      row["high"] = vega::number(bar.interval->second);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json names_axis(const char* field) {
  Json axis = vega::nominal(field);
  axis["axis"] = {{"labelLimit", 160}, {"grid", true}};
  return axis;
}

// A line across at a value.
Json limit_layer(const char* channel, double value) {
  return {{"data", {{"values", Json::array({{{"limit", vega::number(value)}}})}}},
          {"mark", {{"type", "rule"}, {"strokeDash", {5, 4}}}},
          {"encoding", {{channel, {{"field", "limit"}, {"type", "quantitative"}}}}}};
}

}  // namespace

Figure bar_figure(const BarFigure& figure) {
  std::set<std::string> series, names;
  bool intervals = false;
  for (const Bar& bar : figure.bars) {
    series.insert(bar.series);
    names.insert(bar.name);
    intervals |= bar.interval.has_value();
  }
  const bool several = series.size() > 1;
  Json value =
      figure.log ? vega::logarithmic("value", figure.value) : vega::quantity("value", figure.value);
  if (!figure.points && !figure.log) value["scale"] = {{"zero", true}};
  Json encoding{{"y", names_axis("name")},
                {"x", value},
                {"color", vega::colour("series", several)},
                {"tooltip", Json::array({vega::told("name", "of"), vega::told("series", "series"),
                                         vega::told("value", figure.value)})}};
  if (several) encoding["yOffset"] = vega::nominal("series");
  const bool points = figure.points || figure.log;
  Json layers = Json::array();
  if (intervals) {
    Json range = encoding;
    range["x"]["field"] = "low";
    range["x2"] = {{"field", "high"}};
    range.erase("tooltip");
    layers.push_back({{"mark", {{"type", "rule"}, {"strokeWidth", 2}}}, {"encoding", range}});
  }
  layers.push_back({{"mark", points ? Json{{"type", "point"}, {"filled", true}, {"size", 55}}
                                    : Json{{"type", "bar"}}},
                    {"encoding", encoding}});
  if (figure.limit) layers.push_back(limit_layer("x", *figure.limit));
  Json spec = vega::chart(bar_rows(figure), 200);
  spec["height"] = names.size() * (several ? 12 * series.size() : 18) + 10;
  spec["layer"] = std::move(layers);
  return {.name = figure_name(figure.title),
          .title = figure.title,
          .reading = figure.reading,
          .content = vega::text(spec)};
}

Box box_of(const std::string& group, const std::string& series, const std::vector<double>& values,
           const std::vector<double>& weights) {
  constexpr std::array kFive{0.05, 0.25, 0.5, 0.75, 0.95};
  const auto q = weighted_quantiles({values, weights}, kFive);
  return {group, series, q[0], q[1], q[2], q[3], q[4]};
}

Figure box_figure(const BoxFigure& figure) {
  Json rows = Json::array();
  // Where each is its own group there is nothing to put beside each other.
  const bool grouped = std::any_of(figure.boxes.begin(), figure.boxes.end(),
                                   [](const Box& box) { return box.group != box.series; });
  for (const Box& box : figure.boxes) {
    rows.push_back({{"group", box.group},
                    {"series", box.series},
                    {"low", vega::number(box.low)},
                    {"q25", vega::number(box.q25)},
                    {"median", vega::number(box.median)},
                    {"q75", vega::number(box.q75)},
                    {"high", vega::number(box.high)}});
  }
  const Json told =
      Json::array({vega::told("group", "of"), vega::told("series", "by"), vega::told("low", "5 %"),
                   vega::told("q25", "25 %"), vega::told("median", "median"),
                   vega::told("q75", "75 %"), vega::told("high", "95 %")});
  const auto layer = [&](Json mark, const char* from, const char* to) {
    Json encoding{{"x", vega::nominal("group")},
                  {"y", vega::quantity(from, figure.value)},
                  {"color", vega::colour("series", grouped)},
                  {"tooltip", told}};
    encoding["x"]["axis"] = {{"labelAngle", 0}};
    if (grouped) encoding["xOffset"] = vega::nominal("series");
    if (to) encoding["y2"] = {{"field", to}};
    return Json{{"mark", std::move(mark)}, {"encoding", std::move(encoding)}};
  };
  Json spec = vega::chart(std::move(rows), 280);
  Json middle = layer({{"type", "tick"}, {"thickness", 2}}, "median", nullptr);
  middle["encoding"]["color"] = {{"value", "currentColor"}};
  spec["layer"] = Json::array({layer({{"type", "rule"}}, "low", "high"),
                               layer({{"type", "bar"}, {"opacity", 0.75}}, "q25", "q75"), middle});
  return {.name = figure_name(figure.title),
          .title = figure.title,
          .reading = figure.reading,
          .content = vega::text(spec)};
}

}  // namespace psn
