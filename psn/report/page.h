// A report as one HTML file, which needs nothing else: the style, the scripts and Vega are in it.
#pragma once

#include <string>

#include "psn/report/report.h"

namespace psn {

std::string to_html(const Report& report);

// As text of HTML, also within quotes.
std::string escaped_html(const std::string& text);

}  // namespace psn
