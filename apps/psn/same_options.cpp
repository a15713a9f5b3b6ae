#include "apps/psn/same_options.h"

#include <fmt/format.h>

#include <set>
#include <sstream>

#include "psn/base/error.h"

namespace psn::app {
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

std::map<std::string, std::string> deciding_options(const std::string& config) {
  std::map<std::string, std::string> options;
  std::istringstream in(config);
  for (std::string line; std::getline(in, line);) {
    const std::size_t equals = line.find(" = ");
    if (line.starts_with("#") || equals == std::string::npos) continue;
    const std::string name = line.substr(0, equals);
    if (!free_options().contains(name)) options[name] = line.substr(equals + 3);
  }
  return options;
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

}  // namespace psn::app
