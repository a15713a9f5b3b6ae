#include "apps/psn/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <sstream>
#include <toml++/toml.h>

#include "psn/base/atomic_file.h"
#include "psn/base/error.h"

namespace psn::app {
namespace {

std::string scalar_text(const toml::node& node, const std::string& key, const std::string& file) {
  if (const auto* text = node.as_string()) return text->get();
  if (node.is_table() || node.is_array_of_tables() || node.is_array()) {
    throw InvalidArgument(fmt::format("'{}': '{}' must be a value or a list of values", file, key));
  }
  std::ostringstream out;
  node.visit([&](const auto& value) {
    if constexpr (toml::is_value<decltype(value)>) out << *value;
  });
  return out.str();
}

void append_option(std::vector<std::string>& arguments, const std::string& key,
                   const toml::node& node, const std::string& file) {
  const std::string flag = (key.size() == 1 ? "-" : "--") + key;
  if (const auto* flag_value = node.as_boolean()) {
    arguments.push_back(fmt::format("{}={}", flag, flag_value->get()));
  } else if (const auto* list = node.as_array()) {
    for (const toml::node& element : *list) {
      arguments.push_back(flag);
      arguments.push_back(scalar_text(element, key, file));
    }
  } else {
    arguments.push_back(flag);
    arguments.push_back(scalar_text(node, key, file));
  }
}

std::string toml_value(const std::string& text) {
  double number = 0;
  if (CLI::detail::lexical_cast(text, number) || text == "true" || text == "false") return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// What an option was set to or defaults to; "" if neither.
std::string toml_line(const CLI::Option& option) {
  std::vector<std::string> values = option.results();
  if (values.empty()) values.push_back(option.get_default_str());
  if (values.size() == 1 && values[0].empty()) {
    return option.get_items_expected_max() == 0  // a flag
               ? fmt::format("{} = false\n", option.get_lnames().front())
               : "";
  }
  std::vector<std::string> elements;
  for (const std::string& value : values) elements.push_back(toml_value(value));
  const std::string& key = option.get_lnames().front();
  if (option.get_items_expected_max() > 1) {
    return fmt::format("{} = [{}]\n", key, fmt::join(elements, ", "));
  }
  return fmt::format("{} = {}\n", key, elements.back());
}

}  // namespace

void CommonOptions::add_to(CLI::App& command) {
  command.add_flag("--json", json, "print the result as JSON");
  command.add_flag("--quiet", quiet, "no progress, no summary besides the result");
  command.add_option("--seed", seed, "of all random numbers; the same seed gives the same result")
      ->capture_default_str();
  command.add_option("--config", config, "TOML file with option names as keys; flags override it")
      ->configurable(false);
  command.get_help_ptr()->configurable(false);
}

void SimulationOptions::add_to(CLI::App& command, const std::string& count_help) {
  command.add_option("model,--model", model, "a built-in name (psn models) or a plugin (./libmodel.so)")
      ->required();
  command.add_option("-n,--samples", count, count_help)
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  command.add_option("--width", parallelism.width, "simulations side by side on each thread")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  command.add_option("--threads", parallelism.threads, "threads; 0 for one per core")
      ->capture_default_str()
      ->check(CLI::Range(0, 4096));
  command.add_option("--max-length", max_length, "random choices in a trace before it is an error")
      ->capture_default_str();
  command.add_option("--stack-size", stack_kib, "of each simulation, in KiB; 0 for the model's own")
      ->capture_default_str()
      ->check(CLI::Range(0, 1 << 22));
  command
      .add_option("--time-limit", time_limit,
                  "seconds that a simulation may take from one random choice to the next; 0: none")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command.add_option("--out", out, "directory for results and the effective configuration");
}

std::vector<std::string> with_config_file(std::vector<std::string> arguments) {
  std::string file;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--config" && i + 1 < arguments.size()) file = arguments[i + 1];
    if (arguments[i].starts_with("--config=")) file = arguments[i].substr(9);
  }
  if (file.empty() || arguments.empty()) return arguments;
  std::vector<std::string> merged{arguments.front()};
  try {
    const toml::table table = toml::parse(read_file(file), file);
    const bool model_given = arguments.size() > 1 && !arguments[1].starts_with("-");
    for (const auto& [key, node] : table) {
      if (key.str() == "model" && model_given) continue;
      append_option(merged, std::string(key.str()), node, file);
    }
  } catch (const toml::parse_error& error) {
    throw DataError(fmt::format("'{}', line {}: {}", file, error.source().begin.line,
                                error.description()));
  }
  merged.insert(merged.end(), arguments.begin() + 1, arguments.end());
  return merged;
}

void prepare_output(const std::string& directory, const CLI::App& command) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw DataError(fmt::format("cannot create '{}': {}", directory, error.message()));
  std::string text = fmt::format("# psn {} --config this-file does the same again\n", command.get_name());
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_configurable()) text += toml_line(*option);
  }
  write_file_atomically(directory + "/config.toml", text);
}

}  // namespace psn::app
