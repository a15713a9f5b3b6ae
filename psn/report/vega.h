// What specifications of Vega-Lite have in common. Internal header of the figures: sizes, colours
// and fonts are the page's (web/report.js), so that specifications say only what is drawn.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace psn::vega {

using Json = nlohmann::ordered_json;

// A number with six significant digits; null if it is not finite.
Json number(double x);

// A field on an axis. Quantitative ones need not begin at zero.
Json quantity(const char* field, const std::string& title);
Json logarithmic(const char* field, const std::string& title);
// In the order of the data.
Json nominal(const char* field, const std::string& title = "");
// Colours by name, with a legend unless there is one name only.
Json colour(const char* field, bool legend = true);
// Of a tooltip.
Json told(const char* field, const std::string& title);

// A chart of one or several layers as wide as its place.
Json chart(Json values, int height);
// By the wheel with Ctrl, which pinching is too, and by dragging.
Json zoom();
std::string text(const Json& spec);

}  // namespace psn::vega
