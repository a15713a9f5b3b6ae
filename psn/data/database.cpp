#include "psn/data/database.h"

#include <fmt/format.h>
#include <lmdb.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "psn/base/error.h"
#include "psn/data/pages.h"

namespace psn::data {
namespace {

constexpr const char* kTables[] = {"header", "addresses", "forms", "blocks"};
constexpr unsigned kMaxReaders = 1024;

#if defined(__SANITIZE_THREAD__)  // which leaves few addresses to the process
constexpr std::size_t kMapBytes = std::size_t{1} << 36;
#else
constexpr std::size_t kMapBytes = std::size_t{1} << 40;
#endif
constexpr std::size_t kLeastMapBytes = std::size_t{1} << 20;

MDB_val value(std::string_view bytes) {
  return {bytes.size(), const_cast<char*>(bytes.data())};
}

std::string_view bytes_of(const MDB_val& value) {
  return {static_cast<const char*>(value.mv_data), value.mv_size};
}

unsigned table_of(TableId id) {
  return static_cast<unsigned>(id);
}

std::string reason(int code) {
  switch (code) {
    case MDB_MAP_FULL:
      return "it is as large as it may become (psn data generate --map-size)";
    case MDB_INVALID:
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_NOTFOUND:
    case MDB_INCOMPATIBLE:
    case MDB_VERSION_MISMATCH:
      return "damaged, or not a trace store";
    case EIO:  // also what LMDB makes of a write that was cut short
      return "input or output failed; is the disk full?";
    case ENOMEM:
      return "no room for its map among the addresses of this process (ulimit -v); a smaller "
             "`map_size` needs less";
    default:
      return ::mdb_strerror(code);
  }
}

}  // namespace

void Database::Close::operator()(MDB_env* environment) const {
  ::mdb_env_close(environment);
}

Database::Database(std::string path, Access access, std::size_t map_bytes)
    : path_(std::move(path)) {
  const std::string file = path_ + "/data.mdb";
  const bool is_there = std::filesystem::exists(file);
  if (!is_there && access == Access::kRead) fail("there is no trace store");
  try {
    if (is_there) check_file(file);
  } catch (const DataError& error) {
    fail(error.what());
  }
  // A transaction belongs to its object, not to a thread.
  const unsigned flags = MDB_NOTLS | (access == Access::kRead ? MDB_RDONLY : 0);
  int code = open(flags, map_bytes);
  // Where nothing can be written there is nobody to lock out.
  const bool read_only = code == EACCES || code == EROFS;
  if (access == Access::kRead && read_only) code = open(flags | MDB_NOLOCK, map_bytes);
  check(code, "open");
  int dead = 0;
  ::mdb_reader_check(environment_.get(), &dead);  // those killed would keep pages from reuse
  while (is_there && !trees_are_checked()) {
  }
  open_tables(access, !is_there);
}

// A reader maps what the file says, which may be a terabyte, or all that there is of it.
int Database::open(unsigned flags, std::size_t map_bytes) {
  if (map_bytes > 0) return open_with_map(flags, map_bytes);
  rlimit addresses{};
  const bool limited =
      ::getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY;
  if (!limited && (flags & MDB_RDONLY) != 0) return open_with_map(flags, 0);
  std::size_t size = limited ? std::min<std::size_t>(kMapBytes, addresses.rlim_cur / 2) : kMapBytes;
  int code = ENOMEM;
  for (; code == ENOMEM && size >= kLeastMapBytes; size /= 2) code = open_with_map(flags, size);
  return code;
}

int Database::open_with_map(unsigned flags, std::size_t map_bytes) {
  MDB_env* environment = nullptr;
  check(::mdb_env_create(&environment), "open");
  environment_.reset(environment);
  check(::mdb_env_set_maxdbs(environment, std::size(kTables)), "open");
  check(::mdb_env_set_maxreaders(environment, kMaxReaders), "open");
  // Whole pages, of any size.
  const std::size_t whole = std::max<std::size_t>(1, map_bytes / kLeastMapBytes) * kLeastMapBytes;
  if (map_bytes > 0) check(::mdb_env_set_mapsize(environment, whole), "open");
  return ::mdb_env_open(environment, path_.c_str(), flags, 0666);
}

bool Database::trees_are_checked() const {
  MDB_txn* view = nullptr;
  check(::mdb_txn_begin(environment_.get(), nullptr, MDB_RDONLY, &view), "read");
  const std::unique_ptr<MDB_txn, decltype(&::mdb_txn_abort)> ends(view, &::mdb_txn_abort);
  try {
    return check_pages(path_ + "/data.mdb", ::mdb_txn_id(view));
  } catch (const DataError& error) {
    fail(error.what());
  }
}

void Database::open_tables(Access access, bool creates) {
  MDB_txn* handle = nullptr;
  const bool writes = access == Access::kWrite;
  check(::mdb_txn_begin(environment_.get(), nullptr, writes ? 0 : MDB_RDONLY, &handle), "open");
  for (std::size_t i = 0; i < std::size(kTables); ++i) {
    const int code = ::mdb_dbi_open(handle, kTables[i], MDB_INTEGERKEY | (creates ? MDB_CREATE : 0),
                                    &tables_[i]);
    if (code == 0) continue;
    ::mdb_txn_abort(handle);
    check(code, "open");
  }
  check(::mdb_txn_commit(handle), "open");
}

void Database::fail(std::string_view what) const {
  throw DataError(fmt::format("trace store '{}': {}", path_, what));
}

void Database::check(int code, std::string_view doing) const {
  if (code != 0) fail(fmt::format("cannot {} it: {}", doing, reason(code)));
}

Transaction::Transaction(Database& database, Database::Access access) : database_(database) {
  const bool writes = access == Database::Access::kWrite;
  database_.check(
      ::mdb_txn_begin(database_.environment_.get(), nullptr, writes ? 0 : MDB_RDONLY, &handle_),
      writes ? "write" : "read");
}

Transaction::~Transaction() {
  if (cursor_) ::mdb_cursor_close(cursor_);
  if (handle_) ::mdb_txn_abort(handle_);
}

std::optional<std::string_view> Transaction::get(Place place) const {
  MDB_val key{sizeof place.key, &place.key}, found{};
  const int code = ::mdb_get(handle_, database_.tables_[table_of(place.table)], &key, &found);
  if (code == MDB_NOTFOUND) return std::nullopt;
  database_.check(code, "read");
  return bytes_of(found);
}

namespace {

std::optional<Item> item(const Database& database, int code, const MDB_val& key,
                         const MDB_val& found) {
  if (code == MDB_NOTFOUND) return std::nullopt;
  if (code != 0 || key.mv_size != sizeof(std::uint64_t)) database.fail("damaged");
  Item result{0, bytes_of(found)};
  std::memcpy(&result.key, key.mv_data, sizeof result.key);
  return result;
}

}  // namespace

std::optional<Item> Transaction::last(TableId table) const {
  MDB_cursor* cursor = nullptr;
  database_.check(::mdb_cursor_open(handle_, database_.tables_[table_of(table)], &cursor), "read");
  MDB_val key{}, found{};
  const int code = ::mdb_cursor_get(cursor, &key, &found, MDB_LAST);
  ::mdb_cursor_close(cursor);
  return item(database_, code, key, found);
}

std::optional<Item> Transaction::block_from(std::uint64_t first) {
  if (!cursor_) {
    database_.check(
        ::mdb_cursor_open(handle_, database_.tables_[table_of(TableId::kBlocks)], &cursor_),
        "read");
  }
  MDB_val key{sizeof first, &first}, found{};
  const int code = ::mdb_cursor_get(cursor_, &key, &found, MDB_SET_RANGE);
  return item(database_, code, key, found);
}

void Transaction::append(Place place, std::string_view bytes) {
  MDB_val key{sizeof place.key, &place.key}, data = value(bytes);
  database_.check(
      ::mdb_put(handle_, database_.tables_[table_of(place.table)], &key, &data, MDB_APPEND),
      "write");
}

void Transaction::commit() {
  database_.check(::mdb_txn_commit(std::exchange(handle_, nullptr)), "write");
}

}  // namespace psn::data
