#include "psn/attach/settings.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "psn/base/error.h"
#include "psn/base/text.h"
#include "psn/io/atomic_file.h"

namespace psn::attach {
namespace {

constexpr int kMostDepth = 32;

// A table whose keys are all taken, or complained about.
class Section {
 public:
  Section(const toml::table& table, std::string place) : table_(table), place_(std::move(place)) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(fmt::format("{}: {}", place_, what));
  }
  template <class T>
  std::optional<T> take(const std::string& key) {
    taken_.insert(key);
    const toml::node* node = table_.get(key);
    if (!node) return std::nullopt;
    const auto value = node->value<T>();
    if (!value) fail(fmt::format("'{}' is of the wrong kind", key));
    return *value;
  }
  // One text, or several.
  std::optional<std::vector<std::string>> take_texts(const std::string& key) {
    const toml::node* node = table_.get(key);
    const toml::array* list = node ? node->as_array() : nullptr;
    if (!list) {
      const auto one = take<std::string>(key);
      return one ? std::optional(std::vector{*one}) : std::nullopt;
    }
    taken_.insert(key);
    std::vector<std::string> texts;
    for (const toml::node& element : *list) {
      const auto text = element.value<std::string>();
      if (!text) fail(fmt::format("'{}' holds something that is no text", key));
      texts.push_back(*text);
    }
    return texts;
  }
  void expect_no_more() const {
    std::vector<std::string> known(taken_.begin(), taken_.end());
    for (const auto& [key, node] : table_) {
      const std::string name(key.str());
      if (!taken_.contains(name)) {
        fail(fmt::format("unknown key '{}'{}", name, suggestion(name, known)));
      }
    }
  }

 private:
  const toml::table& table_;
  std::string place_;
  std::set<std::string> taken_;
};

SiteRule site_rule(const std::string& name, Section section) {
  SiteRule rule{.name = name};
  rule.at = section.take_texts("at").value_or(std::vector<std::string>{});
  if (rule.at.empty()) section.fail("it needs 'at', addresses that psn attach --learn prints");
  rule.control = section.take<bool>("control").value_or(true);
  rule.list = section.take<bool>("list").value_or(false);
  section.expect_no_more();
  return rule;
}

void take_law(Output& output, Section& section) {
  const auto name = section.take<std::string>("law");
  if (!name) return;
  output.law = find_family(std::string_view(*name));
  if (!output.law || !has_independent_components(*output.law) ||
      *output.law == family_of<Categorical>) {
    section.fail(fmt::format("'{}' is no law that a number can be measured by", *name));
  }
  std::size_t open = 0;
  for (const family::Parameter& parameter : info(*output.law).parameters) {
    output.parameters.push_back(section.take<double>(std::string(parameter.name)));
    open += !output.parameters.back();
  }
  if (open != 1) {
    section.fail(fmt::format(
        "of the parameters of {} all but one are to be given: the other is the number", *name));
  }
}

std::string take_column(Section& section, const toml::table& table) {
  if (const toml::node* node = table.get("column"); node && node->is_integer()) {
    return std::to_string(section.take<std::int64_t>("column").value_or(1));
  }
  return section.take<std::string>("column").value_or("");
}

Output output_of(const std::string& name, const toml::table& table, Section section,
                 bool observed) {
  Output output{.name = name, .observed = observed};
  const auto from = section.take<std::string>("from").value_or("stdout");
  output.from = from == "stdout" ? Output::From::kStdout
                : from == "exit" ? Output::From::kExit
                                 : Output::From::kFile;
  if (output.from == Output::From::kFile) output.file = from;
  const auto pattern = section.take<std::string>("pattern");
  output.column = take_column(section, table);
  if (output.from != Output::From::kExit && pattern.has_value() == !output.column.empty()) {
    section.fail("it needs either a 'pattern' or a 'column'");
  }
  try {
    if (pattern) output.pattern.emplace(*pattern, std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::regex_error& error) {
    section.fail(fmt::format("'pattern' is no regular expression: {}", error.what()));
  }
  output.list = section.take<bool>("list").value_or(false);
  output.optional = section.take<bool>("optional").value_or(false);
  output.scale = section.take<double>("scale").value_or(1);
  output.offset = section.take<double>("offset").value_or(0);
  if (observed) take_law(output, section);
  section.expect_no_more();
  return output;
}

// Calls f(name, table) for each [WHAT.name].
template <class F>
void each_section(const toml::table& file, const char* what, const std::string& path, F f) {
  const toml::node* all = file.get(what);
  if (!all) return;
  if (!all->is_table()) throw DataError(fmt::format("'{}': [{}.NAME] is a table", path, what));
  for (const auto& [key, node] : *all->as_table()) {
    const std::string place = fmt::format("'{}', [{}.{}]", path, what, key.str());
    if (!node.is_table()) throw DataError(place + " is no table");
    f(std::string(key.str()), *node.as_table(), Section(*node.as_table(), place));
  }
}

void expect_known_sections(const toml::table& file, const std::string& path) {
  const std::vector<std::string> known{"program", "site", "observe", "tag"};
  for (const auto& [key, node] : file) {
    const std::string name(key.str());
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw DataError(
          fmt::format("'{}': unknown section '{}'{}", path, name, suggestion(name, known)));
    }
  }
}

}  // namespace

Distribution Output::around(double number) const {
  std::vector<Value> values;
  for (const auto& parameter : parameters) values.emplace_back(parameter.value_or(number));
  return make_distribution(*law, std::move(values));
}

Settings parse_settings(const std::string& text, const std::string& path) {
  Settings settings;
  toml::table file;
  try {
    file = toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    throw DataError(
        fmt::format("'{}', line {}: {}", path, error.source().begin.line, error.description()));
  }
  expect_known_sections(file, path);
  if (const toml::table* program = file["program"].as_table()) {
    Section section(*program, fmt::format("'{}', [program]", path));
    const auto depth = section.take<std::int64_t>("depth").value_or(settings.depth);
    if (depth < 1 || depth > kMostDepth) {
      section.fail(fmt::format("'depth' must be between 1 and {}", kMostDepth));
    }
    settings.depth = static_cast<int>(depth);
    settings.fresh = section.take<bool>("fresh").value_or(false);
    settings.files = section.take_texts("files");
    section.expect_no_more();
  }
  each_section(file, "site", path, [&](const std::string& name, const auto&, Section section) {
    settings.sites.push_back(site_rule(name, std::move(section)));
  });
  for (const bool observed : {true, false}) {
    each_section(file, observed ? "observe" : "tag", path,
                 [&](const std::string& name, const auto& table, Section section) {
                   settings.outputs.push_back(output_of(name, table, std::move(section), observed));
                 });
  }
  return settings;
}

Settings read_settings(const std::string& path) {
  constexpr std::size_t kMost = 1 << 20;
  return parse_settings(read_file(path, kMost), path);
}

}  // namespace psn::attach
