// The 1D simulator: heat through the thickness of tool and laminate in an autoclave.
//
//   tool:      rho Cp dT/dt = d/dz (k dT/dz)
//   laminate:  rho Cp(T) dT/dt = d/dz (k(T, a) dT/dz) + rho_r (1 - Vf) H_r da/dt
//
// z = 0 is the bottom of the tool. Convection below and above; temperature and flux are continuous
// at the interface, which is a node. Linear elements with lumped capacity, BDF2 in time, and one
// Newton iteration for temperature and cure together. Energy is conserved to its tolerance: storage
// is a difference of enthalpies. Conductivities are those of the extrapolated state, which differs
// from the solution by third order in the step.
#pragma once

#include <span>
#include <vector>

#include "experiments/composite_cure/cure_course.h"
#include "experiments/composite_cure/thickness.h"

namespace psn::composite_cure {

// Not thread-safe.
class Slab {
 public:
  Slab(const Part& part, Air air, const Resolution& resolution = {},
       const Materials& materials = {});

  // One step in time. Throws ModelError if Newton's method fails.
  void step();
  double time() const { return course_.time; }

  std::size_t nodes() const { return thickness_.nodes(); }
  double depth(std::size_t node) const { return thickness_.depth[node]; }
  double temperature(std::size_t node) const { return temperature_[node]; }
  std::span<const double> cure() const {
    return {course_.laminate.cure().data(), course_.laminate.size()};
  }
  double temperature_at(double z) const { return thickness_.at(z, {temperature_.data(), nodes()}); }
  double cure_at(double z) const { return thickness_.at(z, cure()); }  // z within the laminate
  // Through both surfaces, W/m2.
  double heat_flux_in() const;
  // Of tool and laminate, above 0 C; of the cure so far. J/m2.
  double stored_heat() const;
  double released_heat() const;

 private:
  void find_conductances();
  double newton();
  void solve();

  const Part part_;
  const Air air_;
  const double step_;
  const Materials materials_;
  const TransverseConductivity conductivity_;
  const Linear laminate_heat_capacity_;
  const Thickness thickness_;
  const std::size_t interface_;
  std::vector<double> metal_;        // capacity of the tool's part of each node, J/m2K
  std::vector<double> volume_;       // of the laminate's part of each of its nodes, m
  std::vector<double> conductance_;  // of elements, W/m2K
  std::vector<double> temperature_, change_;
  std::vector<double> diagonal_, residual_;
  CureCourse course_;
};

}  // namespace psn::composite_cure
