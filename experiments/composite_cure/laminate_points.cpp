#include "experiments/composite_cure/laminate_points.h"

#include <algorithm>

namespace psn::composite_cure {
namespace {

// Where the rate is defined; solutions stay well within.
constexpr double kLeastCure = 1e-4, kMostCure = 1 - 1e-4;

}  // namespace

LaminatePoints::LaminatePoints(const Laminate& laminate, std::size_t n, double temperature)
    : kinetics_(laminate.kinetics),
      density_(laminate.density()),
      heat_of_cure_(laminate.heat_of_cure()),
      heat_capacity_(laminate.heat_capacity()),
      n_(n),
      cure_(padded(n), laminate.start_of_cure),
      enthalpy_(n, enthalpy(temperature)),
      past_cure_(padded(n), laminate.start_of_cure),
      past_enthalpy_(n, enthalpy(temperature)),
      by_temperature_(n),
      residual_(n),
      slope_(n) {
  rates_.resize(n);
}

void LaminatePoints::begin(const BackwardStep& step) {
  step_ = step;
  past_cure_.extrapolate(cure_);
  for (double& a : cure_) a = std::clamp(a, kLeastCure, kMostCure);
}

void LaminatePoints::linearise(const double* temperature) {
  cure_rates(kinetics_, n_, temperature, cure_.data(), rates_);
  for (std::size_t i = 0; i < n_; ++i) {
    const double t = temperature[i], known = past_cure_.known(step_, i);
    const double divisor = 1 / (step_.now - step_.size * rates_.by_cure[i]);
    cure_[i] += (step_.size * rates_.rate[i] - step_.now * cure_[i] - known) * divisor;
    by_temperature_[i] = step_.size * rates_.by_temperature[i] * divisor;
    const double stored = step_.now * enthalpy(t) + past_enthalpy_.known(step_, i);
    const double released = heat_of_cure_ * (step_.now * cure_[i] + known);
    residual_[i] = (stored - released) / step_.size;
    slope_[i] = step_.now / step_.size *
                (density_ * heat_capacity_(t) - heat_of_cure_ * by_temperature_[i]);
  }
}

void LaminatePoints::correct(const double* change) {
  for (std::size_t i = 0; i < n_; ++i) {
    cure_[i] = std::clamp(cure_[i] + by_temperature_[i] * change[i], kLeastCure, kMostCure);
  }
}

void LaminatePoints::finish(const double* temperature) {
  for (std::size_t i = 0; i < n_; ++i) enthalpy_[i] = enthalpy(temperature[i]);
  past_cure_.push(cure_);
  past_enthalpy_.push(enthalpy_);
}

}  // namespace psn::composite_cure
