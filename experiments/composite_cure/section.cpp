#include "experiments/composite_cure/section.h"

#include <algorithm>
#include <cmath>

namespace psn::composite_cure {

Section::Section(const Part& part, Air air, const Outline& outline, const Resolution& resolution,
                 const Materials& materials)
    : part_(part),
      air_(std::move(air)),
      outline_(outline),
      step_(resolution.step),
      materials_(materials),
      conductivity_(materials.laminate),
      thickness_(part, resolution),
      part_columns_(outline.part_elements + 1),
      stride_(part_columns_ + outline.flange_elements),
      course_{Past(rows() * stride_, part.start),
              LaminatePoints(materials.laminate, thickness_.laminate_nodes() * part_columns_,
                             part.start),
              BackwardStep::first(step_)} {
  temperature_.assign(rows() * stride_, part.start);
  for (Field* field : {&metal_, &area_, &from_bottom_, &from_top_, &across_, &along_, &change_,
                       &residual_, &diagonal_, &pivot_, &direction_, &image_, &preconditioned_}) {
    field->assign(temperature_.size(), 0.0);
  }
  laminate_temperature_.assign(padded(course_.laminate.size()), part.start);
  laminate_change_.resize(course_.laminate.size());
  weigh_nodes();
}

void Section::weigh_nodes() {
  for (std::size_t i = 0; i < stride_; ++i) {
    const std::size_t last = part_columns_ - 1;
    x_.push_back(i <= last ? outline_.part * static_cast<double>(i) / outline_.part_elements
                           : outline_.part + (outline_.tool - outline_.part) *
                                                 static_cast<double>(i - last) /
                                                 outline_.flange_elements);
  }
  for (std::size_t r = 0; r < rows(); ++r) {
    for (std::size_t i = 0; i < columns(r); ++i) weigh_node(r, i);
  }
}

void Section::weigh_node(std::size_t row, std::size_t column) {
  const std::size_t at = row * stride_ + column, interface = thickness_.interface;
  const double below = row > 0 ? 0.5 * thickness_.height(row - 1) : 0;
  const double above = row + 1 < rows() ? 0.5 * thickness_.height(row) : 0;
  const double metal = (row <= interface ? below : 0) + (row < interface ? above : 0);
  const double laminate = column < part_columns_ ? below + above - metal : 0;
  const double before = column > 0 ? 0.5 * (x_[column] - x_[column - 1]) : 0;
  const double after = column + 1 < stride_ ? 0.5 * (x_[column + 1] - x_[column]) : 0;
  const double under_part =  // the width that the part has or covers
      (column < part_columns_ ? before : 0) + (column + 1 < part_columns_ ? after : 0);
  const double width = before + after;

  const Metal& tool = materials_.tool;
  metal_[at] = width * metal * tool.density * tool.heat_capacity;
  area_[at] = under_part * laminate;
  if (after > 0) along_[at] = tool.conductivity * metal / (2 * after);
  if (row < interface) across_[at] = tool.conductivity * width / thickness_.height(row);

  double ends = 0;
  if (column + 1 == stride_) ends += outline_.h_edge * metal;
  if (column + 1 == part_columns_) ends += outline_.h_edge * laminate;
  const double top =
      (row == interface ? width - under_part : 0) + (row + 1 == rows() ? under_part : 0);
  from_bottom_[at] = (row == 0 ? part_.h_bottom * width : 0) + 0.5 * ends;
  from_top_[at] = part_.h_top * top + 0.5 * ends;
}

void Section::find_conductances() {
  const Linear& fibre = materials_.laminate.conductivity_along;
  const std::vector<double>& cure = course_.laminate.cure();
  const Metal& tool = materials_.tool;
  for (std::size_t r = thickness_.interface; r < rows(); ++r) {
    const bool bottom = r == thickness_.interface, top = r + 1 == rows();
    const double below = bottom ? 0 : 0.5 * thickness_.height(r - 1);
    const double above = top ? 0 : 0.5 * thickness_.height(r);
    for (std::size_t i = 0; i < part_columns_; ++i) {
      const std::size_t at = r * stride_ + i, node = laminate_node(r, i);
      const double t = temperature_[at], a = cure[node];
      if (i + 1 < part_columns_) {
        const double mean_t = 0.5 * (t + temperature_[at + 1]);
        const double in_plane =
            0.5 * (fibre(mean_t) + conductivity_(mean_t, 0.5 * (a + cure[node + 1])));
        const double metal = bottom ? tool.conductivity * 0.5 * thickness_.height(r - 1) : 0;
        along_[at] = (metal + in_plane * (below + above)) / (x_[i + 1] - x_[i]);
      }
      if (!top) {
        const std::size_t next = node + part_columns_;
        const double width = area_[at] / (below + above);
        across_[at] = width / thickness_.height(r) *
                      conductivity_(0.5 * (t + temperature_[at + stride_]), 0.5 * (a + cure[next]));
      }
    }
  }
}

void Section::step() {
  const auto prepare = [this] {
    gather_laminate();
    find_conductances();
  };
  course_.step(step_, air_, temperature_, laminate_temperature_.data(), prepare,
               [this] { return newton(); });
}

void Section::gather_laminate() {
  for (std::size_t r = thickness_.interface; r < rows(); ++r) {
    std::copy_n(&temperature_[r * stride_], part_columns_,
                &laminate_temperature_[laminate_node(r, 0)]);
  }
}

double Section::newton() {
  course_.laminate.linearise(laminate_temperature_.data());
  assemble();
  solve();
  double largest = 0;
  for (std::size_t at = 0; at < temperature_.size(); ++at) {
    temperature_[at] += change_[at];
    largest = std::max(largest, std::abs(change_[at]));
  }
  for (std::size_t r = thickness_.interface; r < rows(); ++r) {
    std::copy_n(&change_[r * stride_], part_columns_, &laminate_change_[laminate_node(r, 0)]);
  }
  course_.laminate.correct(laminate_change_.data());
  gather_laminate();
  return std::isfinite(temperature_[0]) ? largest : HUGE_VAL;
}

void Section::assemble() {
  for (std::size_t r = 0; r < rows(); ++r) {
    const bool laminate = r >= thickness_.interface;
    for (std::size_t i = 0; i < columns(r); ++i) {
      const std::size_t at = r * stride_ + i;
      const double t = temperature_[at], per_time = metal_[at] / step_;
      double diagonal = course_.backward.now * per_time + from_bottom_[at] + from_top_[at];
      double residual =
          per_time * (course_.backward.now * t + course_.past.known(course_.backward, at)) +
          from_bottom_[at] * (t - course_.air_bottom) + from_top_[at] * (t - course_.air_top);
      if (laminate && i < part_columns_) {
        const std::size_t node = laminate_node(r, i);
        diagonal += area_[at] * course_.laminate.slope(node);
        residual += area_[at] * course_.laminate.residual(node);
      }
      diagonal_[at] = diagonal;
      residual_[at] = residual;
    }
  }
  const auto connect = [&](std::size_t a, std::size_t b, double conductance) {
    const double flow = conductance * (temperature_[a] - temperature_[b]);
    residual_[a] += flow;
    residual_[b] -= flow;
    diagonal_[a] += conductance;
    diagonal_[b] += conductance;
  };
  for (std::size_t r = 0; r < rows(); ++r) {
    const std::size_t first = r * stride_;
    for (std::size_t i = 0; i + 1 < columns(r); ++i)
      connect(first + i, first + i + 1, along_[first + i]);
    if (r + 1 == rows()) continue;
    for (std::size_t i = 0; i < columns(r + 1); ++i) {
      connect(first + i, first + stride_ + i, across_[first + i]);
    }
  }
}

double Section::temperature_at(double z, std::size_t column) const {
  std::vector<double> values(rows());
  for (std::size_t r = 0; r < rows(); ++r) values[r] = temperature(r, column);
  return thickness_.at(z, values);
}

}  // namespace psn::composite_cure
