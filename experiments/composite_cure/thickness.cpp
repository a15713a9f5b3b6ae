#include "experiments/composite_cure/thickness.h"

#include <algorithm>

namespace psn::composite_cure {

Thickness::Thickness(const Part& part, const Resolution& resolution)
    : depth(resolution.tool + resolution.laminate + 1), interface(resolution.tool) {
  for (std::size_t i = 0; i < nodes(); ++i) {
    depth[i] = i <= interface ? part.tool * static_cast<double>(i) / resolution.tool
                              : part.tool + part.laminate * static_cast<double>(i - interface) /
                                                resolution.laminate;
  }
}

double Thickness::at(double z, std::span<const double> values) const {
  const std::size_t offset = nodes() - values.size();  // of the first value
  const bool metal = z < depth[interface];
  const std::size_t first = metal ? 0 : interface, last = metal ? interface : nodes() - 1;
  constexpr std::size_t kPoints = 4;
  const std::size_t points = std::min(kPoints, last - first + 1);
  const auto above = std::upper_bound(depth.begin() + static_cast<std::ptrdiff_t>(first),
                                      depth.begin() + static_cast<std::ptrdiff_t>(last), z);
  const auto next = static_cast<std::size_t>(above - depth.begin());
  const std::size_t begin =
      std::clamp(next, first + points / 2, last + 1 + points / 2 - points) - points / 2;
  double sum = 0;
  for (std::size_t i = begin; i < begin + points; ++i) {
    double weight = 1;
    for (std::size_t j = begin; j < begin + points; ++j) {
      if (j != i) weight *= (z - depth[j]) / (depth[i] - depth[j]);
    }
    sum += weight * values[i - offset];
  }
  return sum;
}

}  // namespace psn::composite_cure
