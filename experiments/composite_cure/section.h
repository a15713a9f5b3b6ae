// The 2D simulator: a cross-section of the part and its tool, from the middle of the part outwards.
//
// The tool is longer than the part: its flange carries heat past the part's edge. Within the plane
// heat flows along the plies, half of them with their fibres and half across. Convection on all
// exposed faces. Discretisation in z and time, and Newton's method, are Slab's: with insulated
// edges and no flange every column is a Slab. The linear equations are solved by conjugate
// gradients, preconditioned by solving each column by itself.
#pragma once

#include <vector>

#include "experiments/composite_cure/cure_course.h"
#include "experiments/composite_cure/thickness.h"

namespace psn::composite_cure {

struct Outline {
  double part = 150e-3, tool = 200e-3;  // from the plane of symmetry; m
  double h_edge = 30;                   // of the part's and the tool's ends; W/m2K
  unsigned part_elements = 75, flange_elements = 25;
};

inline constexpr Resolution kSectionResolution{8, 26, 30};

// Not thread-safe.
class Section {
 public:
  Section(const Part& part, Air air, const Outline& outline = {},
          const Resolution& resolution = kSectionResolution, const Materials& materials = {});

  // One step in time. Throws ModelError if it cannot be solved.
  void step();
  double time() const { return course_.time; }

  std::size_t rows() const { return thickness_.nodes(); }  // from the bottom up
  std::size_t columns(std::size_t row) const {             // from the middle outwards
    return row <= thickness_.interface ? stride_ : part_columns_;
  }
  double x(std::size_t column) const { return x_[column]; }
  double depth(std::size_t row) const { return thickness_.depth[row]; }
  double temperature(std::size_t row, std::size_t column) const {
    return temperature_[row * stride_ + column];
  }
  // In the middle of the part, or in another column of it.
  double temperature_at(double z, std::size_t column = 0) const;

 private:
  using Field = std::vector<double>;  // by row and column

  void weigh_nodes();
  void weigh_node(std::size_t row, std::size_t column);
  void find_conductances();
  double newton();
  void assemble();
  void factorise();
  void precondition(const Field& in, Field& out) const;
  double apply(const Field& in, Field& out) const;  // the Jacobian; returns in . out
  void solve();
  void gather_laminate();
  std::size_t laminate_node(std::size_t row, std::size_t column) const {
    return (row - thickness_.interface) * part_columns_ + column;
  }

  const Part part_;
  const Air air_;
  const Outline outline_;
  const double step_;
  const Materials materials_;
  const TransverseConductivity conductivity_;
  const Thickness thickness_;
  const std::size_t part_columns_, stride_;
  std::vector<double> x_;         // of columns
  Field metal_;                   // capacity of the tool's part of a node, per depth of the section
  Field area_;                    // of the laminate's part of a node
  Field from_bottom_, from_top_;  // conductances to the air; ends see the mean of both
  Field across_, along_;          // conductances to the node above; to the next column
  Field temperature_, change_, residual_, diagonal_;
  Field pivot_, direction_, image_, preconditioned_;
  std::vector<double> laminate_temperature_, laminate_change_;
  CureCourse course_;
};

}  // namespace psn::composite_cure
