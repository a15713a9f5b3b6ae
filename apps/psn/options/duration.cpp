#include "apps/psn/options/duration.h"

#include <fmt/format.h>

#include "psn/base/error.h"

namespace psn::app {

double seconds_of(const std::string& duration) {
  double number = 0, unit = 1;
  const std::size_t digits = duration.find_last_not_of("smh") + 1;
  const std::string suffix = duration.substr(digits);
  if (suffix == "m") unit = 60;
  if (suffix == "h") unit = 3600;
  constexpr double kMost = 1e9;
  if (suffix.size() > 1 || !CLI::detail::lexical_cast(duration.substr(0, digits), number) ||
      !(number >= 0 && number * unit <= kMost)) {
    throw InvalidArgument(
        fmt::format("'{}' is no length of time such as 90s, 30m or 4h", duration));
  }
  return number * unit;
}

CLI::Validator duration() {
  const auto problem = [](const std::string& text) {
    try {
      seconds_of(text);
      return std::string();
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
  };
  return {problem, "TIME"};
}

}  // namespace psn::app
