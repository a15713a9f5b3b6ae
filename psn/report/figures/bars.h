// One number for each of several things, by name; with intervals, if it has them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "psn/report/report.h"

namespace psn {

struct Bar {
  std::string name, series;
  double value = 0;
  std::optional<std::pair<double, double>> interval{};
};

struct BarFigure {
  std::string title, reading;
  std::string value;  // title of the axis
  std::vector<Bar> bars;
  bool log = false;
  bool points = false;            // dots instead of bars, for values that have no natural zero
  std::optional<double> limit{};  // a line
};

Figure bar_figure(const BarFigure& figure);

// Five numbers of a sample: the box from `q25` to `q75`, the whiskers from `low` to `high`.
struct Box {
  std::string group, series;
  double low = 0, q25 = 0, median = 0, q75 = 0, high = 0;
};

struct BoxFigure {
  std::string title, reading;
  std::string value;
  std::vector<Box> boxes;
};

// The box of weighted values, with whiskers from the 5 % to the 95 % quantile.
Box box_of(const std::string& group, const std::string& series, const std::vector<double>& values,
           const std::vector<double>& weights = {});
Figure box_figure(const BoxFigure& figure);

}  // namespace psn
