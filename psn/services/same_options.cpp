#include "psn/services/same_options.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <set>
#include <sstream>

#include "psn/base/error.h"

namespace psn::services {
namespace {

const std::set<std::string>& free_options() {
  static const std::set<std::string> names{"out",
                                           "log",
                                           "json",
                                           "quiet",
                                           "width",
                                           "threads",
                                           "max-time",
                                           "checkpoint-every",
                                           "time-limit",
                                           "stack-size",
                                           "workers",
                                           "max-failures",
                                           "run-time-limit",
                                           "start-time-limit",
                                           "curve-server",
                                           "curve-keys"};
  return names;
}

}  // namespace

std::map<std::string, std::string> deciding_options(const std::string& config) try {
  std::map<std::string, std::string> options;
  for (const auto& [key, node] : toml::parse(config)) {
    const std::string name(key.str());
    if (free_options().contains(name)) continue;
    std::ostringstream text;
    node.visit(
        [&](const auto& value) { text << toml::toml_formatter(value, toml::format_flags::none); });
    options[name] = text.str();
  }
  return options;
} catch (const toml::parse_error& error) {
  throw DataError(
      fmt::format("a configuration, line {}: {}", error.source().begin.line, error.description()));
}

void expect_same_options(const std::string& file, const std::string& begun_with,
                         const std::string& now) {
  const auto before = deciding_options(begun_with), after = deciding_options(now);
  const auto text = [](const auto& options, const std::string& name) {
    const auto found = options.find(name);
    return found == options.end() ? std::string("not set") : found->second;
  };
  std::set<std::string> names;
  for (const auto& [name, value] : before) names.insert(name);
  for (const auto& [name, value] : after) names.insert(name);
  for (const std::string& name : names) {
    if (text(before, name) == text(after, name)) continue;
    throw InvalidArgument(fmt::format("--resume: '{}' was begun with another --{}: {}, now {}",
                                      file, name, text(before, name), text(after, name)));
  }
}

}  // namespace psn::services
