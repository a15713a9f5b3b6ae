#include "psn/data/block.h"

#include <cstring>

#include "psn/data/record.h"
#include "trace_store_generated.h"

namespace psn::data {
namespace {

constexpr std::size_t aligned(std::size_t at) {
  return (at + 7) / 8 * 8;
}

}  // namespace

void BlockBuilder::append(std::string_view payload, std::uint64_t index) {
  constexpr std::size_t kMaxBytes = 1u << 31;  // what LMDB holds as one record is below 4 GiB
  if (payload.size() > kMaxBytes - bytes_.size()) {
    throw InvalidArgument("more than 2 GiB cannot be stored");
  }
  bytes_.resize(aligned(bytes_.size()));
  append_sealed(bytes_, payload, {TableId::kTraces, index});
  ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
}

std::string BlockBuilder::finish(std::uint64_t last) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(record::CreateIndex(builder, builder.CreateVector(ends_)));
  bytes_.resize(aligned(bytes_.size()));
  append_sealed(bytes_, finished(builder), {TableId::kBlocks, last});
  const std::uint64_t length = kSealBytes + builder.GetSize();
  bytes_.append(reinterpret_cast<const char*>(&length), sizeof length);
  ends_.clear();
  return std::exchange(bytes_, {});
}

BlockView::BlockView(std::string_view bytes, std::uint64_t last) {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length) throw DataError("a block that is cut short");
  std::memcpy(&length, bytes.data() + bytes.size() - sizeof length, sizeof length);
  bytes.remove_suffix(sizeof length);
  if (length > bytes.size() || (bytes.size() - length) % 8 != 0) {
    throw DataError("a block without an index");
  }
  traces_ = bytes.substr(0, bytes.size() - length);
  const auto& index =
      parsed<record::Index>(unsealed(bytes.substr(traces_.size()), {TableId::kBlocks, last}));
  if (!index.ends() || index.ends()->size() == 0 || index.ends()->size() > last + 1) {
    throw DataError("a block of no traces, or of too many");
  }
  count_ = index.ends()->size();
  first_ = last + 1 - count_;
  ends_ = index.ends()->Data();
}

std::uint32_t BlockView::end(std::uint64_t i) const {
  std::uint32_t result = 0;
  std::memcpy(&result, ends_ + i * sizeof result, sizeof result);
  return result;
}

std::string_view BlockView::payload(std::uint64_t index) const {
  const std::uint64_t i = index - first_;
  const std::size_t from = i == 0 ? 0 : aligned(end(i - 1)), to = end(i);
  if (from > to || to > traces_.size()) throw DataError("a trace that is not in its block");
  return unsealed(traces_.substr(from, to - from), {TableId::kTraces, index});
}

}  // namespace psn::data
