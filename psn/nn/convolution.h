// Convolution: the shape of a layer that looks at an array of up to three dimensions through small
// windows and says the same of each: three wide and two apart, with zeros around the array.
//
// Arrays are stored place by place with their channels together. A convolution is then a dense
// layer applied to every window, so `gather` and `scatter` are all that is special about it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "psn/core/value.h"

namespace psn {

struct Convolution {
  std::array<std::size_t, 3> in{1, 1, 1}, out{1, 1, 1};
  std::size_t channels_in = 1, channels_out = 1;
  // By window and place in it: the place of the array, or kOutside.
  std::vector<std::uint32_t> places;
  static constexpr std::uint32_t kOutside = ~std::uint32_t{0};

  std::size_t windows() const { return out[0] * out[1] * out[2]; }
  std::size_t window() const { return places.size() / windows() * channels_in; }
  std::size_t inputs() const { return in[0] * in[1] * in[2] * channels_in; }
  std::size_t outputs() const { return windows() * channels_out; }

  // One array -> windows() rows of window() numbers; and the sums back.
  void gather(const float* array, float* rows) const;
  void scatter(const float* rows, float* array) const;
};

// The layers for values of a shape: none unless it has two or three dimensions.
std::vector<Convolution> convolutions_for(const Shape& shape, std::size_t layers,
                                          std::size_t channels);

}  // namespace psn
