#include "psn/report/report.h"

#include <fmt/format.h>

#include <cmath>

namespace psn {

std::string figure_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (letter) {
      name += c;
    } else if (c >= 'A' && c <= 'Z') {
      name += static_cast<char>(c - 'A' + 'a');
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (name.ends_with('-')) name.pop_back();
  return name.empty() ? "figure" : name;
}

std::string shown(double x) {
  if (std::isnan(x)) return "-";
  const bool long_one = std::abs(x) >= 1e5 && std::abs(x) < 1e9;
  return long_one ? fmt::format("{:.0f}", x) : fmt::format("{:.5g}", x);
}

}  // namespace psn
