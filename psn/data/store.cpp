#include "psn/data/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "psn/base/error.h"
#include "psn/data/header.h"
#include "psn/io/atomic_file.h"

namespace psn::data {
namespace {

constexpr std::size_t kBlockBytes = 256 << 10;
constexpr std::size_t kCommitBytes = 64 << 20;
constexpr std::size_t kMappedBytes = 256 << 20;

// Reads the addresses and forms that the dictionary does not have yet.
void load_dictionary(Database& database, Transaction& view, Dictionary& dictionary) {
  const auto load = [&](TableId table, auto known, auto add) {
    for (;;) {
      const Place place{table, known()};
      const auto bytes = view.get(place);
      if (!bytes) return;
      try {
        add(unsealed(std::string(*bytes), place));
      } catch (const DataError& error) {
        database.fail(fmt::format("{} {}: {}", table == TableId::kForms ? "form" : "address",
                                  place.key, error.what()));
      }
    }
  };
  load(
      TableId::kAddresses, [&] { return dictionary.addresses().size(); },
      [&](std::string_view payload) { dictionary.add_address(payload); });
  load(
      TableId::kForms, [&] { return dictionary.forms().size(); },
      [&](std::string_view payload) { dictionary.add_form(payload); });
}

std::uint64_t size_in(const Transaction& view) {
  const auto last = view.last(TableId::kBlocks);
  return last ? last->key + 1 : 0;
}

// The block that has a trace; copied to `aligned` where the map's is not.
BlockView block_with(std::uint64_t index, const Item& item, std::vector<std::uint64_t>& aligned) {
  std::string_view bytes = item.bytes;
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % 8 != 0) {
    aligned.resize(bytes.size() / 8 + 1);
    std::memcpy(aligned.data(), bytes.data(), bytes.size());
    bytes = {reinterpret_cast<const char*>(aligned.data()), bytes.size()};
  }
  BlockView block(bytes, item.key);
  if (!block.has(index)) throw DataError("is not there");
  return block;
}

// A store without traces, all at once: a folder is renamed into place.
void create(const std::string& path, const std::vector<Origin>& origins, std::size_t map_bytes) {
  namespace fs = std::filesystem;
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  std::error_code error;
  fs::remove_all(temporary, error);
  const Descriptor held = hold_temporary_folder(temporary);
  if (held.get() < 0) {
    throw DataError(fmt::format("cannot create '{}': {}", path, std::strerror(errno)));
  }
  try {
    {
      Database database(temporary, Database::Access::kWrite, map_bytes);
      Transaction transaction(database, Database::Access::kWrite);
      const Place place{TableId::kHeader, 0};
      transaction.append(place, sealed(header_bytes(origins), place));
      transaction.commit();
    }
    sync_folder(temporary);
    rename_durably(temporary, path);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
    throw;
  }
}

}  // namespace

// Held for as long as the store is open for writing; the kernel lets go of it with the process.
class StoreWriter::FolderLock {
 public:
  explicit FolderLock(const std::string& path)
      : file_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (file_ >= 0 && ::flock(file_, LOCK_EX | LOCK_NB) == 0) return;
    const int error = errno;
    if (file_ >= 0) ::close(file_);
    throw DataError(
        fmt::format("trace store '{}': {}", path,
                    error == EWOULDBLOCK ? "another process is writing it" : std::strerror(error)));
  }
  ~FolderLock() { ::close(file_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int file_;
};

StoreWriter::StoreWriter(const std::string& path, const std::vector<Origin>& origins,
                         AddressTable& table, std::size_t map_bytes)
    : dictionary_(table) {
  if (!std::filesystem::exists(path + "/data.mdb")) create(path, origins, map_bytes);
  lock_ = std::make_unique<FolderLock>(path);
  database_ = std::make_unique<Database>(path, Database::Access::kWrite, map_bytes);
  Transaction view(*database_, Database::Access::kRead);
  require_origins(*database_, read_header(*database_, view), origins);
  load_dictionary(*database_, view, dictionary_);
  addresses_written_ = dictionary_.addresses().size();
  forms_written_ = dictionary_.forms().size();
  size_ = committed_ = size_in(view);
}

StoreWriter::~StoreWriter() = default;

Transaction& StoreWriter::transaction() {
  if (!transaction_) {
    transaction_ = std::make_unique<Transaction>(*database_, Database::Access::kWrite);
  }
  return *transaction_;
}

bool StoreWriter::has(std::uint64_t index, const Trace& trace) {
  Transaction view(*database_, Database::Access::kRead);
  const auto found = view.block_from(index);
  std::vector<std::uint64_t> aligned;
  return found && block_with(index, *found, aligned).payload(index) == dictionary_.write(trace);
}

void StoreWriter::append(const Trace& trace) {
  if (trace.log_weight != trace.log_likelihood) {
    throw InvalidArgument("a trace store holds traces that were drawn from the model");
  }
  try {
    block_.append(dictionary_.write(trace), size_);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(
        fmt::format("trace store '{}': trace {}: {}", database_->path(), size_, error.what()));
  }
  ++size_;
  if (block_.bytes() >= kBlockBytes) write_block();
  if (pending_bytes_ >= kCommitBytes) commit();
}

void StoreWriter::write_block() {
  const Place place{TableId::kBlocks, size_ - 1};
  const std::string bytes = block_.finish(place.key);
  transaction().append(place, bytes);
  pending_bytes_ += bytes.size();
}

void StoreWriter::write_dictionary() {
  for (; addresses_written_ < dictionary_.addresses().size(); ++addresses_written_) {
    const Place place{TableId::kAddresses, addresses_written_};
    transaction().append(place, sealed(dictionary_.address_bytes(place.key), place));
  }
  for (; forms_written_ < dictionary_.forms().size(); ++forms_written_) {
    const Place place{TableId::kForms, forms_written_};
    transaction().append(place, sealed(dictionary_.form_bytes(place.key), place));
  }
}

void StoreWriter::commit() {
  if (block_.count() > 0) write_block();
  if (!transaction_) return;
  write_dictionary();
  transaction_->commit();
  transaction_.reset();
  pending_bytes_ = 0;
  committed_ = size_;
}

StoreReader::StoreReader(const std::string& path, std::shared_ptr<AddressTable> table)
    : StoreReader(std::make_shared<Database>(path, Database::Access::kRead, 0), std::move(table)) {}

StoreReader::StoreReader(const StoreReader& other) : StoreReader(other.database_, nullptr) {}

StoreReader::StoreReader(std::shared_ptr<Database> database, std::shared_ptr<AddressTable> table)
    : database_(std::move(database)),
      table_(table ? std::move(table)
                   : std::make_shared<AddressTable>(AddressTable::Names::kSeveral)),
      dictionary_(*table_) {
  refresh();
  origins_ = read_header(*database_, *view_);
}

StoreReader::~StoreReader() = default;

std::uint64_t StoreReader::refresh() {
  block_ = {};
  view_.reset();
  view_ = std::make_unique<Transaction>(*database_, Database::Access::kRead);
  load_dictionary(*database_, *view_, dictionary_);
  return size_ = size_in(*view_);
}

void StoreReader::find_block(std::uint64_t index) {
  const auto found = index < size_ ? view_->block_from(index) : std::nullopt;
  if (!found) throw DataError("is not there");
  mapped(found->bytes);
  block_ = {};
  block_ = block_with(index, *found, aligned_);
}

// Pages of the map that were read count as memory of this process until they are let go; they stay
// in the system's cache.
void StoreReader::mapped(std::string_view bytes) {
  constexpr std::size_t kFaultAround = 64 << 10;  // what the kernel maps at each first touch
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  if (mapped_ > kMappedBytes) {
    ::madvise(reinterpret_cast<void*>(lowest_), highest_ - lowest_, MADV_DONTNEED);
    mapped_ = highest_ = 0;
    lowest_ = ~std::uintptr_t{0};
  }
  mapped_ += std::min(bytes.size(), 2 * kFaultAround) + kFaultAround;
  lowest_ = std::min(lowest_, begin / page * page);
  highest_ = std::max(highest_, (begin + bytes.size() + page - 1) / page * page);
}

std::string_view StoreReader::payload(std::uint64_t index) {
  if (!block_.has(index)) find_block(index);
  return block_.payload(index);
}

Trace StoreReader::read(std::uint64_t index) {
  try {
    return dictionary_.read(payload(index));
  } catch (const DataError& error) {
    database_->fail(fmt::format("trace {}: {}", index, error.what()));
  }
}

}  // namespace psn::data
