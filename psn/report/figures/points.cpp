#include "psn/report/figures/points.h"

#include <cmath>

#include "psn/report/vega.h"

namespace psn {

Figure point_figure(const PointFigure& figure) {
  using vega::Json;
  Json rows = Json::array();
  for (const PointFigure::Group& group : figure.groups) {
    for (std::size_t i = 0; i < group.x.size(); ++i) {
      if (!std::isfinite(group.x[i]) || !std::isfinite(group.y[i])) continue;
      rows.push_back({{"group", group.name},
                      {"x", vega::number(group.x[i])},
                      {"y", vega::number(group.y[i])}});
    }
  }
  Json spec = vega::chart(std::move(rows), 260);
  spec["params"] = Json::array({vega::zoom()});
  spec["mark"] = {
      {"type", "point"}, {"filled", true}, {"size", 26}, {"opacity", 0.6}, {"clip", true}};
  spec["encoding"] = {{"x", vega::quantity("x", figure.x)},
                      {"y", vega::quantity("y", figure.y)},
                      {"color", vega::colour("group", figure.groups.size() > 1)},
                      {"tooltip", Json::array({vega::told("group", "of"), vega::told("x", figure.x),
                                               vega::told("y", figure.y)})}};
  return {.name = figure_name(figure.title),
          .title = figure.title,
          .reading = figure.reading,
          .content = vega::text(spec)};
}

}  // namespace psn
