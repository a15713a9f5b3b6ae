#include "psn/data/merge.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "psn/base/error.h"
#include "psn/io/atomic_file.h"

namespace psn::data {
namespace {

namespace fs = std::filesystem;

using Readers = std::vector<std::unique_ptr<StoreReader>>;

void add_origins(std::vector<Origin>& origins, const StoreReader& reader) {
  for (Origin origin : reader.origins()) {
    if (origin.traces == 0) origin.traces = reader.size();
    for (const Origin& other : origins) {
      if (other.model != origin.model) {
        throw InvalidArgument(fmt::format("'{}' holds traces of '{}', those before it of '{}'",
                                          reader.path(), origin.model, other.model));
      }
      if (other.seed == origin.seed) {
        throw InvalidArgument(fmt::format("'{}' holds traces from seed {}, as one before it does",
                                          reader.path(), origin.seed));
      }
    }
    origins.push_back(std::move(origin));
  }
}

}  // namespace

std::uint64_t merge(const std::vector<std::string>& sources, const std::string& path,
                    const std::function<void()>& progress) {
  if (fs::exists(path)) throw DataError(fmt::format("'{}' is there already", path));
  const auto table = std::make_shared<AddressTable>(AddressTable::Names::kSeveral);
  std::vector<Origin> origins;
  Readers readers;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      std::error_code absent;
      if (fs::equivalent(sources[i], sources[k], absent)) {
        throw InvalidArgument(fmt::format("'{}' is given twice", sources[i]));
      }
    }
    readers.push_back(std::make_unique<StoreReader>(sources[i], table));
    add_origins(origins, *readers.back());
  }
  const std::string temporary = fmt::format("{}.{}.merging", path, ::getpid());
  try {
    std::uint64_t size = 0;
    {
      StoreWriter writer(temporary, origins, *table);
      for (const auto& reader : readers) {
        for (std::uint64_t i = 0; i < reader->size(); ++i) {
          writer.append(reader->read(i));
          if (progress) progress();
        }
      }
      writer.commit();
      size = writer.size();
    }
    rename_durably(temporary, path);
    return size;
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
    throw;
  }
}

}  // namespace psn::data
