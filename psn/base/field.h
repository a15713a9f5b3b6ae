// Field: one setting of a configuration, described once: its name, where it lies, its limits, and
// what it is for. The command line, TOML, the JSON of files, checks and the reference page all
// follow from tables of these.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace psn {

template <class Config>
struct Field {
  template <class T>
  using At = std::function<T&(Config&)>;

  struct Whole {
    At<std::uint64_t> at;
    std::uint64_t low, high;
  };
  struct Real {
    At<double> at;
    double low, high;
  };
  struct Choice {
    std::function<std::size_t(const Config&)> get;  // by place among the words
    std::function<void(Config&, std::size_t)> set;
    std::vector<std::string> words;
  };
  // In JSON true or false, elsewhere a word.
  struct Flag {
    At<bool> at;
    std::string on, off;
  };

  using Test = std::function<bool(const Config&)>;

  std::string name;
  std::variant<Whole, Real, Choice, Flag> kind;
  std::string help;
  Test applies = nullptr;    // whether such a configuration has it in its file; null: any
  bool in_old_files = true;  // a file without it has the default
  std::string other_name{};  // on the command line as good as `name`; empty: none
  Test has_other = nullptr;  // whether it goes by that in the file of such a configuration

  // The fields of a configuration are reached by a reference to it that is not const.
  template <class T>
  static const T& read(const At<T>& at, const Config& config) {
    return at(const_cast<Config&>(config));
  }

  const std::string& name_for(const Config& config) const {
    return has_other && has_other(config) ? other_name : name;
  }
  bool is_used(const Config& config) const { return !applies || applies(config); }

  // The words that it may be; none for a number.
  std::vector<std::string> words() const {
    if (const auto* choice = std::get_if<Choice>(&kind)) return choice->words;
    if (const auto* flag = std::get_if<Flag>(&kind)) return {flag->on, flag->off};
    return {};
  }

  std::string text(const Config& config) const {
    if (const auto* whole = std::get_if<Whole>(&kind)) {
      return fmt::format("{}", read(whole->at, config));
    }
    if (const auto* real = std::get_if<Real>(&kind)) {
      return fmt::format("{}", read(real->at, config));
    }
    if (const auto* choice = std::get_if<Choice>(&kind)) return choice->words[choice->get(config)];
    const auto& flag = std::get<Flag>(kind);
    return read(flag.at, config) ? flag.on : flag.off;
  }

  // Sets it to one of its words; false if that is none.
  bool set_word(Config& config, const std::string& word) const {
    const std::vector<std::string> known = words();
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known[i] != word) continue;
      if (const auto* choice = std::get_if<Choice>(&kind)) choice->set(config, i);
      if (const auto* flag = std::get_if<Flag>(&kind)) flag->at(config) = i == 0;
      return true;
    }
    return false;
  }

  // "1 to 64", or its words; for people.
  std::string limits() const {
    if (const auto* whole = std::get_if<Whole>(&kind)) {
      return fmt::format("{} to {}", whole->low, whole->high);
    }
    if (const auto* real = std::get_if<Real>(&kind)) {
      return fmt::format("{} to {}", real->low, real->high);
    }
    std::string all;
    for (const std::string& word : words()) all += (all.empty() ? "" : ", ") + word;
    return all;
  }

  // What is wrong with its value; nullopt if nothing is.
  std::optional<std::string> problem(const Config& config) const {
    bool right = true;
    if (const auto* whole = std::get_if<Whole>(&kind)) {
      const std::uint64_t value = read(whole->at, config);
      right = value >= whole->low && value <= whole->high;
    } else if (const auto* real = std::get_if<Real>(&kind)) {
      const double value = read(real->at, config);
      right = value >= real->low && value <= real->high;  // so NaN is wrong
    }
    if (right) return std::nullopt;
    return fmt::format("{} must lie in {}, not {}", name_for(config), limits(), text(config));
  }
};

// A choice among the values of an enum, whose words are in its order.
template <class Config, class Enum>
typename Field<Config>::Choice choice_of(std::function<Enum&(Config&)> at,
                                         std::vector<std::string> words) {
  return {[at](const Config& config) {
            return static_cast<std::size_t>(Field<Config>::read(at, config));
          },
          [at](Config& config, std::size_t i) { at(config) = static_cast<Enum>(i); },
          std::move(words)};
}

template <class Config>
using Fields = std::vector<Field<Config>>;

// The first problem with a configuration.
template <class Config>
std::optional<std::string> problem_of(const Fields<Config>& fields, const Config& config) {
  for (const Field<Config>& field : fields) {
    if (auto problem = field.problem(config)) return problem;
  }
  return std::nullopt;
}

}  // namespace psn
