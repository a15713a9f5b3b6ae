// Heat stored and heat released at points of the laminate during one step in time, with the degree
// of cure eliminated point by point: what remains is an equation for temperatures alone.
#pragma once

#include <vector>

#include "experiments/composite_cure/cure_rate.h"
#include "experiments/composite_cure/time_step.h"

namespace psn::composite_cure {

class LaminatePoints {
 public:
  LaminatePoints(const Laminate& laminate, std::size_t n, double temperature);

  std::size_t size() const { return n_; }
  const std::vector<double>& cure() const { return cure_; }

  // Begins a step with a prediction of the cure.
  void begin(const BackwardStep& step);
  // At temperatures near the solution (padded(size()) of them): storage less release in W/m3 with
  // the cure that Newton's method then gives, and the derivative by temperature.
  void linearise(const double* temperature);
  double residual(std::size_t i) const { return residual_[i]; }
  double slope(std::size_t i) const { return slope_[i]; }
  // Takes the change of temperature that the equation of heat gave.
  void correct(const double* change);
  void finish(const double* temperature);

 private:
  double enthalpy(double temperature) const {  // J/m3
    return density_ * temperature *
           (heat_capacity_.at_zero + 0.5 * heat_capacity_.by_temperature * temperature);
  }

  const Kinetics kinetics_;
  const double density_, heat_of_cure_;
  const Linear heat_capacity_;
  const std::size_t n_;
  BackwardStep step_ = BackwardStep::first(1);
  std::vector<double> cure_, enthalpy_;
  Past past_cure_, past_enthalpy_;
  CureRates rates_;
  std::vector<double> by_temperature_;  // of the cure
  std::vector<double> residual_, slope_;
};

}  // namespace psn::composite_cure
