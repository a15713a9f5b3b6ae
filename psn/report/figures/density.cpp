#include "psn/report/figures/density.h"

#include <fmt/format.h>

#include "psn/report/vega.h"

namespace psn {
namespace {

using vega::Json;

Json density_rows(const std::vector<Density>& series) {
  Json rows = Json::array();
  for (const Density& of : series) {
    const auto row = [&](double from, double to, double density) {
      rows.push_back({{"series", of.name},
                      {"from", vega::number(from)},
                      {"to", vega::number(to)},
                      {"density", vega::number(density)}});
    };
    for (std::size_t i = 0; i < of.densities.size(); ++i) {
      row(of.grid.edge(i), of.grid.edge(i + 1), of.densities[i]);
    }
    if (!of.densities.empty()) row(of.grid.high, of.grid.high, of.densities.back());
  }
  return rows;
}

Json filter(const char* comparison, const std::string& name) {
  return Json::array(
      {{{"filter", fmt::format("datum.series {} {}", comparison, Json(name).dump())}}});
}

std::string density_reading(const DensityFigure& figure) {
  std::string text =
      fmt::format("The bars show how probable each value of {} is under the {}; their area is one.",
                  figure.variable, figure.series.front().name);
  if (figure.series.size() > 1) {
    text += " Lines are the others: where a line lies on the bars' tops, they agree.";
  } else if (figure.mark) {
    text += fmt::format(" The dashed line is the {} value: it should lie where bars are high.",
                        figure.mark->first);
  } else {
    text += " Several separate peaks mean several explanations of the data.";
  }
  return text;
}

}  // namespace

Figure density_figure(const DensityFigure& figure) {
  const std::string& first = figure.series.front().name;
  const bool several = figure.series.size() > 1;
  Json x = vega::quantity("from", figure.variable), y = vega::quantity("density", "density");
  x["scale"] = {{"zero", false}, {"nice", false}};
  if (figure.series.front().grid.whole) x["axis"] = {{"tickMinStep", 1}};
  y["scale"] = {{"zero", true}};
  const Json told = Json::array({vega::told("series", "of"), vega::told("from", "from"),
                                 vega::told("to", "to"), vega::told("density", "density")});
  Json layers = Json::array();
  layers.push_back({{"transform", filter("===", first)},
                    {"mark", {{"type", "rect"}, {"opacity", several ? 0.45 : 0.8}}},
                    {"encoding",
                     {{"x", x},
                      {"x2", {{"field", "to"}}},
                      {"y", y},
                      {"y2", {{"datum", 0}}},
                      {"color", vega::colour("series", several)},
                      {"tooltip", told}}}});
  if (several) {
    layers.push_back(
        {{"transform", filter("!==", first)},
         {"mark", {{"type", "line"}, {"interpolate", "step-after"}, {"strokeWidth", 1.8}}},
         {"encoding",
          {{"x", x}, {"y", y}, {"color", vega::colour("series", several)}, {"tooltip", told}}}});
  }
  if (figure.mark) {
    layers.push_back(
        {{"data",
          {{"values", Json::array({{{"at", vega::number(figure.mark->second)},
                                    {"what", figure.mark->first}}})}}},
         {"mark", {{"type", "rule"}, {"strokeDash", {5, 4}}, {"strokeWidth", 2}}},
         {"encoding",
          {{"x", {{"field", "at"}, {"type", "quantitative"}}},
           {"tooltip", Json::array({vega::told("what", "what"), vega::told("at", "at")})}}}});
  }
  Json spec = vega::chart(density_rows(figure.series), 200);
  spec["layer"] = std::move(layers);
  return {.name = figure_name(figure.variable),
          .title = figure.variable,
          .reading = density_reading(figure),
          .content = vega::text(spec)};
}

}  // namespace psn
