#include "psn/data/database.h"

#include <fmt/format.h>
#include <lmdb.h>

#include <cerrno>
#include <filesystem>

#include "psn/base/error.h"

namespace psn::data {
namespace {

constexpr const char* kTables[] = {"header", "addresses", "forms", "blocks"};
constexpr unsigned kMaxReaders = 1024;

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
      return "it is as large as it may become";
    case MDB_INVALID:
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_NOTFOUND:
    case MDB_INCOMPATIBLE:
    case MDB_VERSION_MISMATCH:
      return "damaged, or not a trace store";
    case ENOMEM:
      return "no room for its map among the addresses of this process (ulimit -v)";
    default:
      return ::mdb_strerror(code);
  }
}

}  // namespace

Database::Database(std::string path, Access access, std::size_t max_bytes)
    : path_(std::move(path)) {
  if (!std::filesystem::exists(path_ + "/data.mdb") && access == Access::kRead) {
    fail("there is no trace store");
  }
  check(::mdb_env_create(&environment_), "open");
  try {
    check(::mdb_env_set_maxdbs(environment_, std::size(kTables)), "open");
    check(::mdb_env_set_maxreaders(environment_, kMaxReaders), "open");
    // A transaction belongs to its object, not to a thread.
    unsigned flags = MDB_NOTLS;
    if (access == Access::kWrite) {
      check(::mdb_env_set_mapsize(environment_, max_bytes), "open");
    } else {
      flags |= MDB_RDONLY;
    }
    int code = ::mdb_env_open(environment_, path_.c_str(), flags, 0666);
    if (access == Access::kRead && (code == EACCES || code == EROFS)) {
      // Nobody else writes there either.
      code = ::mdb_env_open(environment_, path_.c_str(), flags | MDB_NOLOCK, 0666);
    }
    check(code, "open");
    int dead = 0;
    ::mdb_reader_check(environment_, &dead);  // those that were killed would keep pages from reuse
    open_tables(access);
  } catch (...) {
    ::mdb_env_close(environment_);
    throw;
  }
}

Database::~Database() {
  ::mdb_env_close(environment_);
}

void Database::open_tables(Access access) {
  MDB_txn* handle = nullptr;
  const bool writes = access == Access::kWrite;
  check(::mdb_txn_begin(environment_, nullptr, writes ? 0 : MDB_RDONLY, &handle), "open");
  for (std::size_t i = 0; i < std::size(kTables); ++i) {
    const int code = ::mdb_dbi_open(handle, kTables[i],
                                    MDB_INTEGERKEY | (writes ? MDB_CREATE : 0), &tables_[i]);
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
      ::mdb_txn_begin(database_.environment_, nullptr, writes ? 0 : MDB_RDONLY, &handle_),
      writes ? "write" : "read");
}

Transaction::~Transaction() {
  if (cursor_) ::mdb_cursor_close(cursor_);
  if (handle_) ::mdb_txn_abort(handle_);
}

std::optional<std::string_view> Transaction::get(Place place) const {
  MDB_val key{sizeof place.key, &place.key}, found{};
  const int code =
      ::mdb_get(handle_, database_.tables_[table_of(place.table)], &key, &found);
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
  database_.check(::mdb_put(handle_, database_.tables_[table_of(place.table)], &key, &data,
                            MDB_APPEND),
                  "write");
}

void Transaction::commit() {
  database_.check(::mdb_txn_commit(std::exchange(handle_, nullptr)), "write");
}

}  // namespace psn::data
