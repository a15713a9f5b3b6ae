#include "psn/report/heat_map.h"

#include <nlohmann/json.hpp>

namespace psn {

std::string vega_lite(const HeatMap& map) {
  using Json = nlohmann::ordered_json;
  Json values = Json::array();
  const auto at = [](const MatrixAxis& axis, std::size_t i) {
    return axis.start + axis.step * static_cast<double>(i);
  };
  for (const HeatMap::Panel& panel : map.panels) {
    for (std::size_t i = 0; i < panel.values.size(); ++i) {
      values.push_back({{"panel", panel.title},
                        {"x", at(map.rows, i / map.width)},
                        {"y", at(map.columns, i % map.width)},
                        {"value", panel.values[i]}});
    }
  }
  const auto axis = [](const char* field, const MatrixAxis& of, const char* sort) {
    return Json{{"field", field},
                {"type", "ordinal"},
                {"sort", sort},
                {"title", of.title},
                {"axis", {{"labelOverlap", true}}}};
  };
  const Json json{{"$schema", "https://vega.github.io/schema/vega-lite/v5.json"},
                  {"data", {{"values", std::move(values)}}},
                  {"mark", "rect"},
                  {"width", 360},
                  {"height", 240},
                  {"encoding",
                   {{"column", {{"field", "panel"}, {"title", nullptr}, {"sort", nullptr}}},
                    {"x", axis("x", map.rows, "ascending")},
                    {"y", axis("y", map.columns, "descending")},
                    {"color",
                     {{"field", "value"},
                      {"type", "quantitative"},
                      {"title", map.unit},
                      {"scale", {{"scheme", "inferno"}, {"zero", false}}}}}}},
                  {"config", {{"view", {{"stroke", nullptr}}}}}};
  return json.dump() + "\n";
}

}  // namespace psn
