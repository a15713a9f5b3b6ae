#include "psn/data/header.h"

#include <fmt/format.h>

#include "trace_store_generated.h"

namespace psn::data {
namespace {

constexpr std::uint16_t kVersion = 1;

std::vector<Origin> parse_header(std::string_view payload) {
  const auto& header = parsed<record::Header>(payload);
  if (header.version() != kVersion) {
    throw DataError(
        fmt::format("format version {}; this psn reads {}", header.version(), kVersion));
  }
  if (!header.parts() || header.parts()->size() == 0) throw DataError("made of nothing");
  std::vector<Origin> origins;
  for (const record::Part* part : *header.parts()) {
    origins.push_back({text_of(part->model()), part->seed(), part->traces()});
  }
  return origins;
}

}  // namespace

std::string header_bytes(const std::vector<Origin>& origins) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<record::Part>> stored;
  for (const Origin& origin : origins) {
    stored.push_back(record::CreatePart(builder, builder.CreateString(origin.model), origin.seed,
                                        origin.traces));
  }
  builder.Finish(record::CreateHeader(builder, kVersion, builder.CreateVector(stored)));
  try {
    parse_header(finished(builder));  // what is written must be readable
  } catch (const DataError& error) {
    throw InvalidArgument(fmt::format("the name of the model: {}", error.what()));
  }
  return std::string(finished(builder));
}

std::vector<Origin> read_header(const Database& database, const Transaction& view) {
  constexpr Place kPlace{TableId::kHeader, 0};
  const auto bytes = view.get(kPlace);
  if (!bytes) database.fail("damaged: it has no header");
  try {
    const std::string copy(*bytes);
    return parse_header(unsealed(copy, kPlace));
  } catch (const DataError& error) {
    database.fail(fmt::format("header: {}", error.what()));
  }
}

void require_origins(const Database& database, const std::vector<Origin>& stored,
                     const std::vector<Origin>& wanted) {
  if (stored == wanted) return;
  if (stored.size() > 1 || stored[0].traces > 0) {
    database.fail("was merged from others and cannot go on");
  }
  database.fail(fmt::format("holds traces of '{}' from seed {}, not of '{}' from seed {}",
                            stored[0].model, stored[0].seed, wanted[0].model, wanted[0].seed));
}

}  // namespace psn::data
