// Internal to the attention core: what its two forms share, the forward pass among it.
#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>

#include "psn/nn/cores/core.h"

namespace psn::attention {

struct Sizes {
  std::size_t d, e, depth, heads;
  std::size_t head() const { return (d + heads - 1) / heads; }
  std::size_t all_heads() const { return heads * head(); }
  std::size_t hidden() const { return 2 * d; }  // of the feed-forward part
  float scale() const { return 1 / std::sqrt(static_cast<float>(head())); }
};

// Blocks of parameters: two, and four in each layer.
inline constexpr BlockId kBias = 0, kInput = 1;
enum Dense : BlockId {
  kQueries,  // normalized x -> [queries | keys | values], each by head
  kFound,    // what the heads found -> x
  kHidden,   // normalized x -> hidden
  kFed,      // hidden -> x
  kDense
};
inline BlockId block_of(std::size_t layer, Dense dense) {
  return static_cast<BlockId>(2 + kDense * layer + dense);
}

// The forward pass, from x as the inputs make it to the output.
template <class Run>
void run_layers(const Sizes& sizes, Run& run) {
  for (std::size_t layer = 0; layer < sizes.depth; ++layer) {
    run.normalize_for_attention(layer);
    run.ask(layer);
    run.attend(layer);
    run.add_found(layer);
    run.normalize_for_feeding(layer);
    run.hide(layer);
    run.add_fed(layer);
  }
  run.finish();
}

// Waves of the step, so that traces may have any length.
inline void add_position(std::size_t d, std::size_t step, float* x) {
  for (std::size_t j = 0; j < d; j += 2) {
    const double angle =
        static_cast<double>(step) * std::pow(1e4, -static_cast<double>(j) / static_cast<double>(d));
    x[j] += static_cast<float>(std::sin(angle));
    if (j + 1 < d) x[j + 1] += static_cast<float>(std::cos(angle));
  }
}

// In lanes, for speed, and always in the same order.
template <class Term>
float sum_of(std::size_t n, const Term& term) {
  constexpr std::size_t kLanes = 8;
  float lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t j = 0; j < kLanes; ++j) lanes[j] += term(i + j);
  }
  for (; i < n; ++i) lanes[i % kLanes] += term(i);
  return std::accumulate(lanes, lanes + kLanes, 0.0f);
}

// The deviation of what is normalized: about that of an lstm's outputs, so that layers behind it
// learn at the same rate (control-flow, 20,000 traces: a KL of .01; with 1 it was .05).
inline constexpr float kDeviation = 0.25f;

// y = factor (x - mean), with that deviation; returns the factor. It has no weights, since dense
// layers follow it.
inline float normalize(std::size_t d, const float* x, float* y) {
  const auto n = static_cast<float>(d);
  const float mean = sum_of(d, [&](std::size_t i) { return x[i]; }) / n;
  const float variance =
      sum_of(d, [&](std::size_t i) { return (x[i] - mean) * (x[i] - mean); }) / n;
  const float factor = kDeviation / std::sqrt(variance + 1e-5f);
  for (std::size_t i = 0; i < d; ++i) y[i] = (x[i] - mean) * factor;
  return factor;
}

std::unique_ptr<CoreTape> tape(const Sizes& sizes);

}  // namespace psn::attention
