// Database: an LMDB environment with the four tables of a store, keyed by 64-bit numbers.
//
// Errors are DataErrors that name the folder. A process must not have the same folder open twice at
// a time: LMDB's locks would not hold.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "psn/data/record.h"

struct MDB_env;
struct MDB_txn;
struct MDB_cursor;

namespace psn::data {

class Database {
 public:
  enum class Access { kRead, kWrite };

  // Makes the tables if there are none and it may write. `map_bytes` is what the store may grow to:
  // reserved as addresses, not as memory. 0: a terabyte, or what a limit of the process's addresses
  // (ulimit -v) leaves room for.
  Database(std::string path, Access access, std::size_t map_bytes);
  const std::string& path() const { return path_; }
  [[noreturn]] void fail(std::string_view what) const;

 private:
  friend class Transaction;
  void check(int code, std::string_view doing) const;  // throws unless the code is 0
  int open(unsigned flags, std::size_t map_bytes);
  int open_with_map(unsigned flags, std::size_t map_bytes);
  bool trees_are_checked() const;
  void open_tables(Access access, bool creates);

  std::string path_;
  struct Close {
    void operator()(MDB_env* environment) const;
  };
  std::unique_ptr<MDB_env, Close> environment_;
  unsigned tables_[4] = {};
};

// A record; its bytes are in the map and live as long as the transaction.
struct Item {
  std::uint64_t key;
  std::string_view bytes;
};

// A view of the database at one moment, or changes to it that take effect together or not at all.
// Belongs to one thread at a time.
class Transaction {
 public:
  Transaction(Database& database, Database::Access access);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  std::optional<std::string_view> get(Place place) const;
  std::optional<Item> last(TableId table) const;
  // The first record of the table whose key is not below this one. Made for reading: keeps its
  // place in the table of blocks.
  std::optional<Item> block_from(std::uint64_t key);

  // Only behind all that the table has.
  void append(Place place, std::string_view bytes);
  void commit();  // on disk when it returns

 private:
  Database& database_;
  MDB_txn* handle_ = nullptr;
  MDB_cursor* cursor_ = nullptr;
};

}  // namespace psn::data
