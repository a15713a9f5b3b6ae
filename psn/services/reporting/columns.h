// Columns of samples as figures: a distribution each, pairs, and what has many components as a band
// or as a map. Internal header of the reports.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "psn/core/posterior.h"
#include "psn/report/report.h"

namespace psn::services {

// Samples of the same numbers, of equal weight, by name of the number: "theta", "w[2]".
struct OtherSamples {
  std::string name;  // "prior"
  const std::map<std::string, std::vector<double>>* numbers;
};

struct ColumnFigures {
  std::string what = "posterior";  // what the samples are of
  std::vector<OtherSamples> others;
  // Values to mark, by name of the number.
  std::string mark_name;
  std::map<std::string, double> marks;
  bool pairs = true;
};

// At most `kMostDistributions` distributions; says in `text` what was left out.
inline constexpr std::size_t kMostDistributions = 24;
std::vector<Figure> column_figures(const Posterior& samples, const ColumnFigures& options,
                                   std::string& text);

// Arrays of two dimensions as maps, of a few samples drawn by weight.
std::vector<Figure> field_figures(const Posterior& samples);
// All numbers of all samples, by name.
std::map<std::string, std::vector<double>> numbers_of(const Posterior& samples);
// "w[2]", or the name itself of a scalar.
std::string component_name(const Column& column, std::size_t k);

}  // namespace psn::services
