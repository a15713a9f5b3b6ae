#include "apps/psn/options/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <toml++/toml.h>
#include <cmath>
#include <map>
#include <sstream>

#include "apps/psn/options/remote_options.h"
#include "psn/base/error.h"
#include "psn/io/atomic_file.h"

namespace psn::app {
namespace {

std::string scalar_text(const toml::node& node, const std::string& key, const std::string& file) {
  if (const auto* text = node.as_string()) return text->get();
  if (node.is_table() || node.is_array_of_tables() || node.is_array()) {
    throw InvalidArgument(fmt::format("'{}': '{}' must be a value or a list of values", file, key));
  }
  std::ostringstream out;
  node.visit([&](const auto& value) {
    if constexpr (toml::is_boolean<decltype(value)>) {
      out << (*value ? "true" : "false");
    } else if constexpr (toml::is_floating_point<decltype(value)>) {
      out << fmt::format("{}", *value);
    } else if constexpr (toml::is_value<decltype(value)>) {
      out << *value;
    }
  });
  return out.str();
}

// A table's values become "path.to.value=text", so that `[layers.a] width = 2` is
// --layers=a.width=2.
void append_option(std::vector<std::string>& arguments, const std::string& key,
                   const toml::node& node, const std::string& file, const std::string& path = "") {
  if (const auto* table = node.as_table()) {
    for (const auto& [name, child] : *table) {
      const std::string inner(name.str());
      append_option(arguments, key, child, file, path.empty() ? inner : path + "." + inner);
    }
  } else if (const auto* list = node.as_array()) {
    for (const toml::node& element : *list) {
      arguments.push_back(fmt::format("--{}={}", key, scalar_text(element, key, file)));
    }
  } else {
    arguments.push_back(fmt::format("--{}={}{}", key, path.empty() ? "" : path + "=",
                                    scalar_text(node, key, file)));
  }
}

// Did the user give this option by hand? Then the file's value does not count at all.
bool given_by_hand(const CLI::App& command, const std::vector<std::string>& arguments,
                   const std::string& key) {
  const CLI::Option* option = command.get_option_no_throw("--" + key);
  if (!option) return false;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string word = arguments[i].substr(0, arguments[i].find('='));
    if (word.starts_with("-")) {
      if (option->check_name(word)) return true;
      continue;
    }
    // A bare word is the model, unless it belongs to the option before it.
    if (option->get_positional()) {
      const CLI::Option* before =
          arguments[i - 1].starts_with("-") && arguments[i - 1].find('=') == std::string::npos
              ? command.get_option_no_throw(arguments[i - 1])
              : nullptr;
      if (!before || before->get_items_expected_max() == 0) return true;
    }
  }
  return false;
}

// Numbers that TOML can hold as numbers, everything else as strings; options accept both.
std::string toml_value(const std::string& text, const std::string& type) {
  if (text == "true" || text == "false") return text;
  std::int64_t whole = 0;
  double number = 0;
  if ((type == "UINT" || type == "INT") && CLI::detail::lexical_cast(text, whole)) {
    return fmt::format("{}", whole);
  }
  if (type == "FLOAT" && CLI::detail::lexical_cast(text, number) && std::isfinite(number)) {
    return fmt::format("{}", number);
  }
  std::string quoted = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
      continue;
    }
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
  const std::string type = option.get_type_name().substr(0, option.get_type_name().find(':'));
  std::vector<std::string> elements;
  for (const std::string& value : values) elements.push_back(toml_value(value, type));
  const std::string& key = option.get_lnames().front();
  if (option.get_items_expected_max() > 1) {
    return fmt::format("{} = [{}]\n", key, fmt::join(elements, ", "));
  }
  return fmt::format("{} = {}\n", key, elements.back());
}

}  // namespace

CLI::Validator finite_between(double low, double high) {
  const auto check = [=](const std::string& text) {
    double number = 0;
    const bool good = CLI::detail::lexical_cast(text, number) && number >= low && number <= high;
    return good ? "" : fmt::format("{} is not a number between {} and {}", text, low, high);
  };
  return {check, fmt::format("FLOAT in [{} - {}]", low, high)};
}

void add_tolerance(CLI::App& command, double& tolerance) {
  command
      .add_option("--tolerance", tolerance,
                  "a probability may be off by so much without being wrong")
      ->capture_default_str()
      ->check(finite_between(0, 0.49));
}

void CommonOptions::add_to(CLI::App& command) {
  command.add_flag("--json", json, "print the result as JSON");
  command.add_flag("--quiet", quiet, "no progress, no summary besides the result");
  command.add_option("--seed", seed, "of all random numbers; the same seed gives the same result")
      ->capture_default_str();
  command.add_option("--config", config, "TOML file with option names as keys; flags override it")
      ->configurable(false);
  command.get_help_ptr()->configurable(false);
}

void add_stack_size(CLI::App& command, std::size_t& kib) {
  command.add_option("--stack-size", kib, "of each simulation, in KiB; 0 for the model's own")
      ->capture_default_str()
      ->check(CLI::IsMember({0}) | CLI::Range(64, 1 << 22));
}

void add_open(CLI::App& command, bool& open) {
  command.add_flag("--open", open, "show the report in a browser")->configurable(false);
}

void SimulationArguments::add_to(CLI::App& command, const std::string& count_help) {
  command
      .add_option(
          "model,--model", model,
          "a built-in name (psn models), a plugin (./libmodel.so), a surrogate (s.psn), or "
          "remote simulators: 'exec:COMMAND {endpoint}', ppx+tcp://HOST:PORT[,...]; or any program "
          "that draws random numbers: attach:COMMAND")
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
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  add_stack_size(command, stack_kib);
  command
      .add_option("--time-limit", time_limit,
                  "seconds that a simulation may take from one random choice to the next; 0: none")
      ->capture_default_str()
      ->check(finite_between(0, 1e9));
  add_remote_options(command, remote);
  command.add_option("--out", out, "directory for results and the effective configuration");
  add_open(command, open);
}

std::vector<std::string> with_config_file(const CLI::App& program,
                                          std::vector<std::string> arguments) {
  const CLI::App* command = &program;
  std::size_t depth = 0;  // `psn data generate` is a command within a command
  for (; depth < arguments.size(); ++depth) {
    const auto inner = command->get_subcommands(
        [&](const CLI::App* candidate) { return candidate->check_name(arguments[depth]); });
    if (inner.empty()) break;
    command = inner.front();
  }
  std::string file;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--config" && i + 1 < arguments.size()) file = arguments[i + 1];
    if (arguments[i].starts_with("--config=")) file = arguments[i].substr(9);
  }
  if (file.empty() || depth == 0) return arguments;
  const auto options = arguments.begin() + static_cast<std::ptrdiff_t>(depth);
  const std::vector<std::string> own(options - 1, arguments.end());
  std::vector<std::string> merged(arguments.begin(), options);
  try {
    const toml::table table = toml::parse(read_file(file), file);
    std::map<const CLI::Option*, std::string> keys;
    for (const auto& [name, node] : table) {
      const std::string key(name.str());
      const CLI::Option* option = command->get_option_no_throw("--" + key);
      const auto [other, is_new] = keys.emplace(option, key);
      if (option && !is_new) {
        throw DataError(
            fmt::format("'{}': '{}' and '{}' are one option", file, other->second, key));
      }
      if (!given_by_hand(*command, own, key)) append_option(merged, key, node, file);
    }
  } catch (const toml::parse_error& error) {
    throw DataError(
        fmt::format("'{}', line {}: {}", file, error.source().begin.line, error.description()));
  }
  merged.insert(merged.end(), options, arguments.end());
  return merged;
}

namespace {

// "psn data generate"
std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent ? full_name(*parent) + " " + command.get_name() : "psn";
}

}  // namespace

std::string effective_config(const CLI::App& command) {
  std::string text =
      fmt::format("# {} --config this-file does the same again\n", full_name(command));
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_configurable()) text += toml_line(*option);
  }
  return text;
}

}  // namespace psn::app
