#include "psn/nn/parameters.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

#include "psn/base/error.h"

namespace psn {

void Parameters::place(Block& block, std::uint32_t capacity) {
  const Block old = block;
  constexpr std::size_t kAlignment = 16;
  block.offset = (values_.size() + kAlignment - 1) / kAlignment * kAlignment;
  block.capacity = capacity;
  const std::size_t end = block.offset + std::size_t{capacity} * block.columns;
  const bool trains = !gradients_.empty();
  for (auto* plane : {&values_, &gradients_, &first_, &second_}) {
    if (plane != &values_ && !trains) continue;
    plane->resize(end, 0.0f);
    std::copy_n(plane->begin() + static_cast<long>(old.offset), std::size_t{old.rows} * old.columns,
                plane->begin() + static_cast<long>(block.offset));
  }
  block.first_birth = births_.size();
  births_.resize(births_.size() + capacity, step);
  std::copy_n(births_.begin() + static_cast<long>(old.first_birth), old.rows,
              births_.begin() + static_cast<long>(block.first_birth));
}

void Parameters::add_training_planes() {
  for (auto* plane : {&gradients_, &first_, &second_}) plane->resize(values_.size(), 0.0f);
}

BlockId Parameters::add(std::uint32_t rows, std::uint32_t columns) {
  Block block;
  block.columns = columns;
  place(block, rows);
  block.rows = rows;
  blocks_.push_back(block);
  return static_cast<BlockId>(blocks_.size() - 1);
}

void Parameters::append_rows(BlockId id, std::uint32_t count) {
  Block& block = blocks_[id];
  if (block.rows + count > block.capacity) {
    place(block, std::max(block.rows + count, 2 * block.capacity));
  }
  std::fill_n(births_.begin() + static_cast<long>(block.first_birth + block.rows), count, step);
  block.rows += count;
}

void Parameters::set_columns(BlockId id, std::uint32_t columns) {
  Block& block = blocks_[id];
  if (block.rows > 0) throw InvalidArgument("a block of parameters has rows already");
  block.columns = columns;
  block.capacity = 0;
}

std::size_t Parameters::size() const {
  std::size_t count = 0;
  for (const Block& block : blocks_) count += std::size_t{block.rows} * block.columns;
  return count;
}

void Parameters::drop_training_planes() {
  for (auto* plane : {&gradients_, &first_, &second_}) *plane = {};
}

void Parameters::restart() {
  drop_training_planes();
  step = 0;
  std::fill(births_.begin(), births_.end(), 0);
}

std::uint64_t Parameters::checksum() const {
  XXH64_hash_t hash = 0;
  for (const Block& block : blocks_) {
    const std::size_t size = std::size_t{block.rows} * block.columns;
    hash = XXH3_64bits_withSeed(values_.data() + block.offset, size * sizeof(float), hash);
  }
  return hash;
}

void Parameters::clear_gradients() {
  std::fill(gradients_.begin(), gradients_.end(), 0.0f);
}

}  // namespace psn
