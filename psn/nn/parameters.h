// Parameters: every weight of a network in one arena of four planes (values, gradients, and Adam's
// two moments), so that an optimizer step, a checksum, a gradient average or a checkpoint is one
// pass over flat memory.
//
// Only the values are always there; the other planes come with the first use of one, since whoever
// only runs a network has no need of them.
//
// A Block is a matrix whose rows can be appended: rows keep their place and their moments, new ones
// start fresh. Storage doubles when it is full.
#pragma once

#include <cstdint>
#include <vector>

namespace psn {

using BlockId = std::uint32_t;
inline constexpr BlockId kNoBlock = ~BlockId{0};

struct Block {
  std::size_t offset = 0;  // of the first row, in the planes
  std::uint32_t rows = 0, columns = 0;
  std::uint32_t capacity = 0;   // rows
  std::size_t first_birth = 0;  // of the rows' entries in births
};

class Parameters {
 public:
  // `births` start at the current step: a new row's Adam correction starts fresh.
  BlockId add(std::uint32_t rows, std::uint32_t columns);
  void append_rows(BlockId block, std::uint32_t count);
  // Of a block that has no rows yet.
  void set_columns(BlockId block, std::uint32_t columns);

  const Block& block(BlockId id) const { return blocks_[id]; }
  std::size_t block_count() const { return blocks_.size(); }
  std::size_t size() const;  // number of parameters in use
  // That all planes take, or will take with the first use of those that are not there yet.
  std::size_t bytes() const { return 4 * sizeof(float) * values_.size(); }

  float* values(BlockId id) { return values_.data() + blocks_[id].offset; }
  const float* values(BlockId id) const { return values_.data() + blocks_[id].offset; }
  float* gradients(BlockId id) { return training(gradients_, id); }
  float* first_moments(BlockId id) { return training(first_, id); }
  float* second_moments(BlockId id) { return training(second_, id); }
  const std::uint64_t* births(BlockId id) const { return births_.data() + blocks_[id].first_birth; }
  std::uint64_t* births(BlockId id) { return births_.data() + blocks_[id].first_birth; }

  void clear_gradients();
  // Gradients and moments are gone; the next use of them starts with zeros.
  void drop_training_planes();
  // The same, and no update has been made: for a new optimizer.
  void restart();
  std::uint64_t checksum() const;  // of all values
  std::uint64_t step = 0;          // optimizer updates so far

 private:
  void place(Block& block, std::uint32_t capacity);
  void add_training_planes();
  float* training(std::vector<float>& plane, BlockId id) {
    if (plane.size() != values_.size()) add_training_planes();
    return plane.data() + blocks_[id].offset;
  }

  std::vector<Block> blocks_;
  std::vector<float> values_, gradients_, first_, second_;
  std::vector<std::uint64_t> births_;  // of each row: the step at which it appeared
};

}  // namespace psn
