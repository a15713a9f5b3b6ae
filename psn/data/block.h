// Block: consecutive traces as one record: their sealed records, each at a multiple of 8 bytes,
// then the sealed index of where they end, then the index's length in 8 bytes. Any trace of a block
// can be read without reading the others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace psn::data {

class BlockBuilder {
 public:
  // `index` is the number of the trace in the store.
  void append(std::string_view payload, std::uint64_t index);
  std::size_t count() const { return ends_.size(); }
  std::size_t bytes() const { return bytes_.size(); }
  // The whole block, whose last trace has this number. Then begins anew.
  std::string finish(std::uint64_t last);

 private:
  std::string bytes_;
  std::vector<std::uint32_t> ends_;
};

// A block that lies in memory at a multiple of 8.
class BlockView {
 public:
  BlockView() = default;  // without traces
  // Throws DataError for what is no block.
  BlockView(std::string_view bytes, std::uint64_t last);

  bool has(std::uint64_t index) const { return index - first_ < count_; }
  std::uint64_t first() const { return first_; }
  std::uint64_t count() const { return count_; }
  // The payload of a trace that it has, checked against the checksum.
  std::string_view payload(std::uint64_t index) const;

 private:
  std::uint32_t end(std::uint64_t i) const;

  std::uint64_t first_ = 0, count_ = 0;
  std::string_view traces_;
  const std::uint8_t* ends_ = nullptr;
};

}  // namespace psn::data
