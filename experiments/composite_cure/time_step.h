// Steps in time by backward differences of second order (BDF2), the first one by backward Euler.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace psn::composite_cure {

// dx/dt = (now x + last x_n + before x_{n-1}) / size at the end of the step.
struct BackwardStep {
  double size, now, last, before;

  static BackwardStep first(double size) { return {size, 1, -1, 0}; }
  static BackwardStep second_order(double size) { return {size, 1.5, -2, 0.5}; }
};

// One quantity at many points, at the three times before the step under way.
class Past {
 public:
  Past(std::size_t n, double value) { levels_.fill(std::vector<double>(n, value)); }

  // The part of size * dx/dt that does not depend on the end of the step.
  double known(const BackwardStep& step, std::size_t i) const {
    return step.last * levels_[0][i] + step.before * levels_[1][i];
  }
  // By the parabola through all three: so close that Newton's method mostly needs one iteration.
  void extrapolate(std::vector<double>& out) const {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = 3 * (levels_[0][i] - levels_[1][i]) + levels_[2][i];
    }
  }
  void push(const std::vector<double>& now) {
    levels_[2].swap(levels_[1]);
    levels_[1].swap(levels_[0]);
    levels_[0] = now;
  }

 private:
  std::array<std::vector<double>, 3> levels_;
};

}  // namespace psn::composite_cure
