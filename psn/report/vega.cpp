#include "psn/report/vega.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace psn::vega {

Json number(double x) {
  if (!std::isfinite(x)) return nullptr;
  return std::strtod(fmt::format("{:.6g}", x).c_str(), nullptr);
}

Json quantity(const char* field, const std::string& title) {
  return {{"field", field},
          {"type", "quantitative"},
          {"title", title},
          {"scale", {{"zero", false}, {"nice", true}}}};
}

Json logarithmic(const char* field, const std::string& title) {
  Json axis = quantity(field, title);
  axis["scale"] = {{"type", "log"}};
  return axis;
}

Json nominal(const char* field, const std::string& title) {
  Json axis{{"field", field}, {"type", "nominal"}, {"sort", nullptr}};
  axis["title"] = title.empty() ? Json(nullptr) : Json(title);
  return axis;
}

Json colour(const char* field, bool legend) {
  Json channel = nominal(field);
  if (!legend) channel["legend"] = nullptr;
  return channel;
}

Json told(const char* field, const std::string& title) {
  return {{"field", field}, {"title", title}, {"format", ".5~g"}};
}

Json chart(Json values, int height) {
  return {{"$schema", "https://vega.github.io/schema/vega-lite/v6.json"},
          {"data", {{"values", std::move(values)}}},
          {"width", "container"},
          {"height", height}};
}

Json zoom() {
  return {{"name", "zoom"},
          {"select", {{"type", "interval"}, {"zoom", "wheel![event.ctrlKey]"}}},
          {"bind", "scales"}};
}

std::string text(const Json& spec) {
  return spec.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace psn::vega
