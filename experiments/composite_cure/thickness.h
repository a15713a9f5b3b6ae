// The nodes through the thickness, which both simulators have.
#pragma once

#include <span>
#include <vector>

#include "experiments/composite_cure/autoclave.h"

namespace psn::composite_cure {

struct Thickness {
  Thickness(const Part& part, const Resolution& resolution);

  std::vector<double> depth;  // of nodes, from the bottom of the tool up; m
  std::size_t interface;      // the node between tool and laminate

  std::size_t nodes() const { return depth.size(); }
  std::size_t laminate_nodes() const { return nodes() - interface; }
  double height(std::size_t element) const { return depth[element + 1] - depth[element]; }

  // Of values at all nodes, or at those of the laminate: at any depth, cubic within each material.
  double at(double z, std::span<const double> values) const;
};

// What a simulator says at the sampling times (rows, the first at time 0) and depths.
template <class Simulator>
std::vector<double> sampled_temperatures(Simulator simulator, std::span<const double> depths) {
  std::vector<double> result;
  result.reserve(kSamples * depths.size());
  for (std::size_t j = 0; j < kSamples; ++j) {
    while (simulator.time() < static_cast<double>(j) * kSampling - 1e-6) simulator.step();
    for (const double z : depths) result.push_back(simulator.temperature_at(z));
  }
  return result;
}

}  // namespace psn::composite_cure
