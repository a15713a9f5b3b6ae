// What a person says of a program that is attached: the file of --attach
// (docs/howto/attach-a-program.md).
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "psn/core/distribution.h"

namespace psn::attach {

// Random choices of the program, known by where they are asked for.
struct SiteRule {
  std::string name;
  std::vector<std::string> at;  // addresses, as psn attach --learn prints them
  bool control = true;
  bool list = false;  // the n-th time in a run is NAME_n
};

// Something that a run leaves: on stdout, in a file that it writes, or as its exit code.
struct Output {
  enum class From { kStdout, kFile, kExit };
  std::string name;
  From from = From::kStdout;
  std::string file;                   // in the run's folder
  std::optional<std::regex> pattern;  // of a line; its first group is the number
  std::string column;                 // of a table: a name in its first line, or a number from 1
  bool list = false;                  // every line that has it: NAME_0, NAME_1, ...
  bool optional = false;              // a run may leave none
  double scale = 1, offset = 0;       // applied to the number
  bool observed = true;               // else a tag

  // How it is measured. The parameter that is not given is the number; none: without a density.
  std::optional<Family> law;
  std::vector<std::optional<double>> parameters;
  // Law with the number in its place.
  Distribution around(double number) const;
};

struct Settings {
  int depth = 4;       // frames of the stack that tell sites apart
  bool fresh = false;  // every run is a start of its own
  // What of this folder a run finds in its own; nullopt: all of it.
  std::optional<std::vector<std::string>> files;
  std::vector<SiteRule> sites;
  std::vector<Output> outputs;
};

// Throws DataError that names file and key.
Settings read_settings(const std::string& path);
Settings parse_settings(const std::string& text, const std::string& path);

}  // namespace psn::attach
