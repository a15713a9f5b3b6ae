#include "psn/nn/convolution.h"

#include <algorithm>

namespace psn {
namespace {

using Extent = std::array<std::size_t, 3>;

Convolution make(const Extent& in, std::size_t channels_in, std::size_t channels_out) {
  Convolution layer;
  layer.in = in;
  layer.channels_in = channels_in;
  layer.channels_out = channels_out;
  Extent reach;  // of a window, along each dimension
  for (std::size_t d = 0; d < 3; ++d) {
    layer.out[d] = (in[d] + 1) / 2;
    reach[d] = in[d] > 1 ? 3 : 1;
  }
  const auto visit = [](const Extent& extent, auto f) {
    for (std::size_t a = 0; a < extent[0]; ++a) {
      for (std::size_t b = 0; b < extent[1]; ++b) {
        for (std::size_t c = 0; c < extent[2]; ++c) f(Extent{a, b, c});
      }
    }
  };
  visit(layer.out, [&](const Extent& window) {
    visit(reach, [&](const Extent& offset) {
      std::size_t place = 0;
      bool inside = true;
      for (std::size_t d = 0; d < 3; ++d) {
        const std::size_t shifted = 2 * window[d] + offset[d];  // by the margin of zeros
        const std::size_t margin = reach[d] > 1 ? 1 : 0;
        inside = inside && shifted >= margin && shifted - margin < in[d];
        place = place * in[d] + (shifted - margin);
      }
      layer.places.push_back(inside ? static_cast<std::uint32_t>(place) : Convolution::kOutside);
    });
  });
  return layer;
}

}  // namespace

void Convolution::gather(const float* array, float* rows) const {
  for (const std::uint32_t place : places) {
    if (place == kOutside) {
      std::fill_n(rows, channels_in, 0.0f);
    } else {
      std::copy_n(array + place * channels_in, channels_in, rows);
    }
    rows += channels_in;
  }
}

void Convolution::scatter(const float* rows, float* array) const {
  for (const std::uint32_t place : places) {
    for (std::size_t c = 0; place != kOutside && c < channels_in; ++c) {
      array[place * channels_in + c] += rows[c];
    }
    rows += channels_in;
  }
}

std::vector<Convolution> convolutions_for(const Shape& shape, std::size_t layers,
                                          std::size_t channels) {
  std::vector<Convolution> result;
  if (shape.size() != 2 && shape.size() != 3) return result;
  Extent extent{1, 1, 1};
  std::copy_backward(shape.begin(), shape.end(), extent.end());
  std::size_t channels_in = 1;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    if (extent == Extent{1, 1, 1}) break;
    result.push_back(make(extent, channels_in, channels));
    extent = result.back().out;
    channels_in = channels;
  }
  return result;
}

}  // namespace psn
