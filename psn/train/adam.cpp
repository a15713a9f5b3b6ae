#include "psn/train/adam.h"

#include <cmath>

#include "psn/train/adam_kernels.h"

namespace psn {
void Adam::set_rate_factor(BlockId block, double factor) {
  if (block >= rate_factors_.size()) rate_factors_.resize(block + 1, 1.0);
  rate_factors_[block] = factor;
}

double Adam::update(Parameters& parameters, double rate, const std::vector<BlockId>& touched) {
  double squares = 0;
  for (const BlockId id : touched) {
    const Block& block = parameters.block(id);
    squares +=
        kernels::sum_of_squares(std::size_t{block.rows} * block.columns, parameters.gradients(id));
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
    kernels::adam_step(std::size_t{end - row} * block.columns, parameters.values(id) + at,
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
