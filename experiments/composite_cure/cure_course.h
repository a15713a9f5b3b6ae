// How far a cure has come, as both simulators carry it from step to step.
#pragma once

#include <vector>

#include "experiments/composite_cure/autoclave.h"
#include "experiments/composite_cure/laminate_points.h"
#include "experiments/composite_cure/newton.h"

namespace psn::composite_cure {

struct CureCourse {
  Past past;  // of all temperatures
  LaminatePoints laminate;
  BackwardStep backward;
  double time = 0, air_bottom = 0, air_top = 0;

  // One step of this size. `prepare` finds what stays as it is during the step, given temperatures
  // that are extrapolated; `iterate` is one of Newton's iterations (newton.h).
  // `in_laminate` is where the laminate's temperatures are. Throws ModelError.
  template <class Prepare, class Iterate>
  void step(double size, const Air& air, std::vector<double>& temperature,
            const double* in_laminate, Prepare prepare, Iterate iterate) {
    time += size;
    air_bottom = Air::at(air.bottom, time);
    air_top = Air::at(air.top, time);
    past.extrapolate(temperature);
    laminate.begin(backward);
    prepare();
    solve_by_newton(time, iterate);
    laminate.finish(in_laminate);
    past.push(temperature);
    backward = BackwardStep::second_order(size);
  }
};

}  // namespace psn::composite_cure
