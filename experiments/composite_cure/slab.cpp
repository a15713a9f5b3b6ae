#include "experiments/composite_cure/slab.h"

#include <algorithm>
#include <cmath>

namespace psn::composite_cure {

Slab::Slab(const Part& part, Air air, const Resolution& resolution, const Materials& materials)
    : part_(part),
      air_(std::move(air)),
      step_(resolution.step),
      materials_(materials),
      conductivity_(materials.laminate),
      laminate_heat_capacity_(materials.laminate.heat_capacity()),
      thickness_(part, resolution),
      interface_(thickness_.interface),
      metal_(nodes()),
      volume_(thickness_.laminate_nodes()),
      conductance_(nodes() - 1),
      temperature_(interface_ + padded(volume_.size()), part.start),
      change_(nodes()),
      diagonal_(nodes()),
      residual_(nodes()),
      course_{Past(temperature_.size(), part.start),
              LaminatePoints(materials.laminate, volume_.size(), part.start),
              BackwardStep::first(step_)} {
  for (std::size_t i = 0; i + 1 < nodes(); ++i) {
    const double half = 0.5 * thickness_.height(i);
    for (const std::size_t end : {i, i + 1}) {
      if (i < interface_) {
        metal_[end] += half * materials.tool.density * materials.tool.heat_capacity;
      } else {
        volume_[end - interface_] += half;
      }
    }
    if (i < interface_) conductance_[i] = materials.tool.conductivity / thickness_.height(i);
  }
}

void Slab::step() {
  course_.step(
      step_, air_, temperature_, &temperature_[interface_], [this] { find_conductances(); },
      [this] { return newton(); });
}

void Slab::find_conductances() {
  const std::vector<double>& cure = course_.laminate.cure();
  for (std::size_t i = interface_; i < conductance_.size(); ++i) {
    const std::size_t below = i - interface_;
    conductance_[i] = conductivity_(0.5 * (temperature_[i] + temperature_[i + 1]),
                                    0.5 * (cure[below] + cure[below + 1])) /
                      thickness_.height(i);
  }
}

// One iteration; the largest change of a temperature.

double Slab::newton() {
  const std::size_t n = nodes();
  course_.laminate.linearise(&temperature_[interface_]);
  for (std::size_t i = 0; i <= interface_; ++i) {
    const double per_time = metal_[i] / step_;
    diagonal_[i] = course_.backward.now * per_time;
    residual_[i] = per_time * (course_.backward.now * temperature_[i] +
                               course_.past.known(course_.backward, i));
  }
  std::fill(diagonal_.begin() + static_cast<std::ptrdiff_t>(interface_) + 1, diagonal_.end(), 0.0);
  std::fill(residual_.begin() + static_cast<std::ptrdiff_t>(interface_) + 1, residual_.end(), 0.0);
  for (std::size_t j = 0; j < volume_.size(); ++j) {
    diagonal_[interface_ + j] += volume_[j] * course_.laminate.slope(j);
    residual_[interface_ + j] += volume_[j] * course_.laminate.residual(j);
  }
  for (std::size_t i = 0; i + 1 < n; ++i) {
    const double up = conductance_[i] * (temperature_[i] - temperature_[i + 1]);
    residual_[i] += up;
    residual_[i + 1] -= up;
    diagonal_[i] += conductance_[i];
    diagonal_[i + 1] += conductance_[i];
  }
  residual_[0] += part_.h_bottom * (temperature_[0] - course_.air_bottom);
  diagonal_[0] += part_.h_bottom;
  residual_[n - 1] += part_.h_top * (temperature_[n - 1] - course_.air_top);
  diagonal_[n - 1] += part_.h_top;

  solve();
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    temperature_[i] += change_[i];
    largest = std::max(largest, std::abs(change_[i]));
  }
  course_.laminate.correct(&change_[interface_]);
  return std::isfinite(temperature_[0]) ? largest : HUGE_VAL;
}

// change = -J^-1 residual for the symmetric, tridiagonal Jacobian. Elimination goes from both ends
// to the middle and substitution back again: two chains of operations that don't wait for each
// other.
void Slab::solve() {
  const std::size_t n = nodes(), middle = n / 2;
  const auto eliminate = [&](std::size_t from, std::size_t to, double g) {
    diagonal_[from] = 1 / diagonal_[from];
    const double factor = g * diagonal_[from];
    diagonal_[to] -= factor * g;
    residual_[to] += factor * residual_[from];
  };
  const auto substitute = [&](std::size_t from, std::size_t to, double g) {
    change_[to] = (g * change_[from] - residual_[to]) * diagonal_[to];
  };
  for (std::size_t i = 0; i < middle; ++i) {
    eliminate(i, i + 1, conductance_[i]);
    if (const std::size_t j = n - 1 - i; j > middle) eliminate(j, j - 1, conductance_[j - 1]);
  }
  change_[middle] = -residual_[middle] / diagonal_[middle];
  for (std::size_t i = middle; i-- > 0;) {
    substitute(i + 1, i, conductance_[i]);
    if (const std::size_t j = n - 1 - i; j > middle) substitute(j - 1, j, conductance_[j - 1]);
  }
}

double Slab::heat_flux_in() const {
  return part_.h_bottom * (Air::at(air_.bottom, course_.time) - temperature_[0]) +
         part_.h_top * (Air::at(air_.top, course_.time) - temperature_[nodes() - 1]);
}

double Slab::stored_heat() const {
  double sum = 0;
  for (std::size_t i = 0; i < nodes(); ++i) {
    const double t = temperature_[i];
    sum += metal_[i] * t;
    if (i < interface_) continue;
    sum += volume_[i - interface_] * materials_.laminate.density() * t *
           (laminate_heat_capacity_.at_zero + 0.5 * laminate_heat_capacity_.by_temperature * t);
  }
  return sum;
}

double Slab::released_heat() const {
  double sum = 0;
  for (std::size_t j = 0; j < volume_.size(); ++j) {
    sum += volume_[j] * (course_.laminate.cure()[j] - materials_.laminate.start_of_cure);
  }
  return sum * materials_.laminate.heat_of_cure();
}

}  // namespace psn::composite_cure
