#include "psn/train/adam.h"

#include <cmath>

#include "psn/base/vectorize.h"

namespace psn {
namespace {

struct Coefficients {
  float beta1, beta2, rate, correction2, epsilon, clip;
};

PSN_VECTORIZE void step(std::size_t n, float* __restrict value, const float* __restrict gradient,
                        float* __restrict first, float* __restrict second, Coefficients k) {
  for (std::size_t i = 0; i < n; ++i) {
    const float g = gradient[i] * k.clip;
    first[i] = k.beta1 * first[i] + (1 - k.beta1) * g;
    second[i] = k.beta2 * second[i] + (1 - k.beta2) * g * g;
    value[i] -= k.rate * first[i] / (__builtin_sqrtf(second[i] * k.correction2) + k.epsilon);
  }
}

// In lanes, so that the order of the sum does not depend on the machine.
PSN_VECTORIZE double sum_of_squares(std::size_t n, const float* x) {
  constexpr std::size_t kLanes = 16;
  float lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t j = 0; j < kLanes; ++j) lanes[j] += x[i + j] * x[i + j];
  }
  double sum = 0;
  for (const float lane : lanes) sum += lane;
  for (; i < n; ++i) sum += double{x[i]} * x[i];
  return sum;
}

}  // namespace

void Adam::set_rate_factor(BlockId block, double factor) {
  if (block >= rate_factors_.size()) rate_factors_.resize(block + 1, 1.0);
  rate_factors_[block] = factor;
}

double Adam::update(Parameters& parameters, double rate, const std::vector<BlockId>& touched) {
  double squares = 0;
  for (const BlockId id : touched) {
    const Block& block = parameters.block(id);
    squares += sum_of_squares(std::size_t{block.rows} * block.columns, parameters.gradients(id));
  }
  const double norm = std::sqrt(squares);
  if (!(norm < HUGE_VAL)) return norm;
  const bool clipped = options_.clip_norm > 0 && norm > options_.clip_norm;
  const float clip = clipped ? static_cast<float>(options_.clip_norm / norm) : 1.0f;
  ++parameters.step;
  if (options_.touched_only) {
    last_.resize(parameters.block_count(), 0);
    for (const BlockId id : touched) {
      skip_missed_steps(parameters, id);
      update_block(parameters, id, rate, clip);
    }
  } else {
    for (BlockId id = 0; id < parameters.block_count(); ++id) {
      update_block(parameters, id, rate, clip);
    }
  }
  return norm;
}

void Adam::skip_missed_steps(Parameters& parameters, BlockId id) {
  const std::uint64_t before = parameters.step - 1;
  std::uint64_t* births = parameters.births(id);
  if (last_[id] < before) {
    for (std::uint32_t row = 0; row < parameters.block(id).rows; ++row) {
      births[row] = births[row] > last_[id] ? before : births[row] + (before - last_[id]);
    }
  }
  last_[id] = parameters.step;
}

void Adam::update_block(Parameters& parameters, BlockId id, double rate, float clip) {
  const Block& block = parameters.block(id);
  const std::uint64_t* births = parameters.births(id);
  if (id < rate_factors_.size()) rate *= rate_factors_[id];
  for (std::uint32_t row = 0; row < block.rows;) {
    std::uint32_t end = row + 1;
    while (end < block.rows && births[end] == births[row]) ++end;
    const auto age = static_cast<double>(parameters.step - births[row]);
    const std::size_t at = std::size_t{row} * block.columns;
    step(std::size_t{end - row} * block.columns, parameters.values(id) + at,
         parameters.gradients(id) + at, parameters.first_moments(id) + at,
         parameters.second_moments(id) + at,
         {static_cast<float>(options_.beta1), static_cast<float>(options_.beta2),
          static_cast<float>(rate / (1 - std::pow(options_.beta1, age))),
          static_cast<float>(1 / (1 - std::pow(options_.beta2, age))),
          static_cast<float>(options_.epsilon), clip});
    row = end;
  }
}

}  // namespace psn
