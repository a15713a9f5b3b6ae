#include "psn/services/same_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <set>
#include <vector>

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
                                           "budget",
                                           "max-time",
                                           "checkpoint-every",
                                           "time-limit",
                                           "stack-size",
                                           "network_memory",
                                           "workers",
                                           "max-failures",
                                           "run-time-limit",
                                           "start-time-limit",
                                           "curve-server",
                                           "curve-keys"};
  return names;
}

std::string text_of(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return fmt::format("\"{}\"", *text);
  if (const auto whole = node.value_exact<std::int64_t>()) return fmt::format("{}", *whole);
  if (const auto number = node.value_exact<double>()) return fmt::format("{}", *number);
  if (const auto flag = node.value_exact<bool>()) return fmt::format("{}", *flag);
  std::vector<std::string> parts;
  if (const toml::array* list = node.as_array()) {
    for (const toml::node& element : *list) parts.push_back(text_of(element));
  }
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

// What was done before there was an option for it.
void add_former_values(std::map<std::string, std::string>& options) {
  if (options.contains("burn-in") || options.contains("thin")) {  // an inference
    options.try_emplace("moves", "200");
    options.try_emplace("fresh", "0.05");
  }
  if (!options.contains("learning_rate")) return;  // no training
  const bool ours = options["preset"] != "\"paper\"";
  options.try_emplace("adam", ours ? "\"touched\"" : "\"dense\"");
  options.try_emplace("inherit", ours ? "\"yes\"" : "\"no\"");
  options.try_emplace("begin_rate", "\"scaled\"");
  options.try_emplace("wide_inputs", "64");
  options.try_emplace("core", "\"lstm\"");
  options.try_emplace("attention_heads", "4");
  options.try_emplace("tally", "\"none\"");
  options.try_emplace("recall", "0");
  options.try_emplace("proposals", "\"joint\"");
  options.try_emplace("observation_context", "0");
  options.try_emplace("observation_tails", "\"plain\"");
}

}  // namespace

std::map<std::string, std::string> deciding_options(const std::string& config) {
  std::map<std::string, std::string> options;
  try {
    for (const auto& [key, value] : toml::parse(config)) {
      const std::string name(key.str());
      if (free_options().contains(name)) continue;
      options[name] = text_of(value);
    }
  } catch (const toml::parse_error& error) {
    throw DataError(fmt::format("a configuration is no TOML: {}", error.description()));
  }
  add_former_values(options);
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
    throw InvalidArgument(fmt::format("`resume`: '{}' was begun with another `{}`: {}, now {}",
                                      file, name, text(before, name), text(after, name)));
  }
}

}  // namespace psn::services
