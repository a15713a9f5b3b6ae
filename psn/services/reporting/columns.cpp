#include "psn/services/reporting/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "psn/report/figures/density.h"
#include "psn/report/figures/fields.h"
#include "psn/report/figures/pairs.h"

namespace psn::services {
namespace {

constexpr std::size_t kMostPairs = 5;       // variables in the square
constexpr std::size_t kMostComponents = 8;  // of a vector that are drawn one by one

std::vector<double> component(const Column& column, std::size_t k) {
  std::vector<double> values;
  for (std::size_t i = k; i < column.data.size(); i += column.width()) {
    values.push_back(column.data[i]);
  }
  return values;
}

// As many as so many independent samples bear.
std::size_t bins_for(double effective_samples) {
  return static_cast<std::size_t>(std::clamp(2.5 * std::cbrt(effective_samples), 12.0, 60.0));
}

// The samples of this number that are drawn beside it.
std::vector<std::pair<std::string, const std::vector<double>*>> others_of(
    const std::string& name, const ColumnFigures& options) {
  std::vector<std::pair<std::string, const std::vector<double>*>> result;
  for (const OtherSamples& other : options.others) {
    const auto found = other.numbers->find(name);
    if (found != other.numbers->end()) result.emplace_back(other.name, &found->second);
  }
  return result;
}

// `grid`: of the values.
Figure distribution(const PairVariable& variable, Grid grid, const std::vector<double>& weights,
                    const ColumnFigures& options) {
  const auto others = others_of(variable.name, options);
  std::vector<Grid> grids;
  Grid wide = grid;
  for (const auto& [name, values] : others) {
    const Grid& its =
        grids.emplace_back(grid_of({*values, {}}, bins_for(static_cast<double>(values->size()))));
    wide = joined(wide, its, its.bins + wide.bins);
  }
  // Each on its own grid, unless they are whole numbers: a narrow posterior in a wide prior would
  // be one bar.
  if (wide.whole) {
    grid = wide;
    grids.assign(others.size(), wide);
  }
  DensityFigure figure{.variable = variable.name};
  figure.series.push_back({options.what, grid, densities({variable.values, weights}, grid)});
  for (std::size_t i = 0; i < others.size(); ++i) {
    const auto& [name, values] = others[i];
    figure.series.push_back({name, grids[i], densities({*values, {}}, grids[i])});
  }
  const auto mark = options.marks.find(variable.name);
  if (mark != options.marks.end()) figure.mark = {options.mark_name, mark->second};
  return density_figure(figure);
}

// A few of the other samples of these variables, where they have all of them.
std::vector<PairPoints> beside(const std::vector<PairVariable>& variables,
                               const ColumnFigures& options) {
  constexpr std::size_t kPoints = 150;
  std::vector<PairPoints> result;
  for (const OtherSamples& other : options.others) {
    PairPoints points{.name = other.name, .values = {}};
    for (const PairVariable& variable : variables) {
      const auto found = other.numbers->find(variable.name);
      if (found == other.numbers->end()) break;
      const std::size_t step = std::max<std::size_t>(1, found->second.size() / kPoints);
      auto& values = points.values.emplace_back();
      for (std::size_t i = 0; i < found->second.size(); i += step) {
        values.push_back(found->second[i]);
      }
    }
    if (points.values.size() == variables.size()) result.push_back(std::move(points));
  }
  return result;
}

}  // namespace

std::string component_name(const Column& column, std::size_t k) {
  return column.shape.empty() ? column.name : fmt::format("{}[{}]", column.name, k);
}

std::map<std::string, std::vector<double>> numbers_of(const Posterior& samples) {
  std::map<std::string, std::vector<double>> numbers;
  for (const std::string& name : samples.names()) {
    const Column& column = samples.column(name);
    for (std::size_t k = 0; k < column.width(); ++k) {
      numbers[component_name(column, k)] = component(column, k);
    }
  }
  return numbers;
}

std::vector<Figure> column_figures(const Posterior& samples, const ColumnFigures& options,
                                   std::string& text) {
  const std::vector<double> weights = samples.weights();
  const std::size_t bins = bins_for(samples.effective_sample_size());
  std::vector<Figure> figures;
  std::vector<PairVariable> paired;
  std::size_t left_out = 0;
  for (const std::string& name : samples.names()) {
    const Column& column = samples.column(name);
    if (column.shape.size() > 1) continue;  // a map shows it
    for (std::size_t k = 0; k < std::min(column.width(), kMostComponents); ++k) {
      if (figures.size() >= kMostDistributions) {
        ++left_out;
        continue;
      }
      PairVariable variable{component_name(column, k), component(column, k)};
      if (variable.values.empty()) continue;
      const Grid grid = grid_of({variable.values, weights}, bins);
      figures.push_back(distribution(variable, grid, weights, options));
      if (paired.size() < kMostPairs && grid.bins > 1) {
        paired.push_back(std::move(variable));
      }
    }
    if (column.width() > kMostComponents) left_out += column.width() - kMostComponents;
  }
  if (left_out > 0) text += fmt::format("{} more numbers are not drawn one by one. ", left_out);
  if (options.pairs && paired.size() > 1) {
    figures.insert(figures.begin(), pair_figure(paired, weights, beside(paired, options)));
  }
  return figures;
}

std::vector<Figure> field_figures(const Posterior& samples) {
  std::vector<Figure> figures;
  constexpr std::size_t kSamples = 24, kNumbers = 200'000;
  for (const std::string& name : samples.names()) {
    const Column& column = samples.column(name);
    if (column.shape.size() != 2 || samples.size() == 0) continue;
    FieldFigure figure{.title = name + ", by sample",
                       .reading =
                           "Rows run to the right and columns upwards; the colour is the "
                           "value. The slider goes from sample to sample: what changes is "
                           "uncertain.",
                       .rows = {"row"},
                       .columns = {"column"},
                       .width = static_cast<std::size_t>(column.shape[1]),
                       .unit = name};
    figure.panels.push_back({name, {}});
    Rng rng(0, 0, 0x666c64);
    const std::size_t count = std::clamp<std::size_t>(kNumbers / column.width(), 1, kSamples);
    for (const std::size_t row : samples.resampled_rows(count, rng)) {
      const auto begin = column.data.begin() + static_cast<std::ptrdiff_t>(row * column.width());
      figure.panels[0].samples.emplace_back(begin,
                                            begin + static_cast<std::ptrdiff_t>(column.width()));
    }
    figures.push_back(field_figure(figure));
  }
  return figures;
}

}  // namespace psn::services
