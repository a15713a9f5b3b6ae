// The trace store: traces of a simulator on disk, numbered from 0 in the order they were added
// (docs/formats/trace-store.md). It only grows; one process may write while others read.
//
// Neither class is thread-safe, and a process must not have one store open twice at a time: a
// second reader is made from the first.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "psn/core/trace.h"
#include "psn/data/block.h"
#include "psn/data/database.h"
#include "psn/data/dictionary.h"
#include "psn/data/origin.h"

namespace psn::data {

class StoreWriter {
 public:
  // Opens the store at `path`, or makes it: all at once, so there is never half a store. Addresses
  // are those of `table`; `map_bytes` is Database's. Throws DataError if another process writes it,
  // or if it is of other origins, InvalidArgument if it was merged and so cannot go on.
  StoreWriter(const std::string& path, const std::vector<Origin>& origins, AddressTable& table,
              std::size_t map_bytes = 0);
  ~StoreWriter();

  std::uint64_t size() const { return size_; }  // with what waits to be written
  std::uint64_t committed() const { return committed_; }

  // Is this the committed trace of that number, to the last bit?
  bool has(std::uint64_t index, const Trace& trace);
  // The trace must have been drawn from the model (its weight is its likelihood) with distributions
  // kept. Throws InvalidArgument for one that a store can't hold, naming the address; those before
  // it can still be committed.
  void append(const Trace& trace);
  // What was appended is on disk when this returns; after an error, what was committed before is.
  void commit();

 private:
  void write_block();
  void write_dictionary();
  Transaction& transaction();

  class FolderLock;
  std::unique_ptr<FolderLock> lock_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<Transaction> transaction_;
  Dictionary dictionary_;
  std::size_t addresses_written_ = 0, forms_written_ = 0;
  std::uint64_t size_ = 0, committed_ = 0;  // traces
  BlockBuilder block_;                      // of those that are in no transaction yet
  std::size_t pending_bytes_ = 0;           // in blocks that are in no commit yet
};

class StoreReader {
 public:
  // Addresses are those of `table`; by default it has one of its own.
  explicit StoreReader(const std::string& path, std::shared_ptr<AddressTable> table = nullptr);
  // Of the same store, for another thread; with addresses of its own.
  StoreReader(const StoreReader& other);
  ~StoreReader();

  const std::string& path() const { return database_->path(); }
  const std::vector<Origin>& origins() const { return origins_; }
  const Dictionary& dictionary() const { return dictionary_; }
  // What is there now, from here on; returns size().
  std::uint64_t refresh();
  std::uint64_t size() const { return size_; }

  // A trace's record in bytes, checked against its checksum. The bytes live until the next call.
  std::string_view payload(std::uint64_t index);
  // Throws DataError that names store and trace.
  Trace read(std::uint64_t index);

 private:
  StoreReader(std::shared_ptr<Database> database, std::shared_ptr<AddressTable> table);
  void find_block(std::uint64_t index);
  void mapped(std::string_view bytes);

  std::shared_ptr<Database> database_;
  std::unique_ptr<Transaction> view_;
  std::shared_ptr<AddressTable> table_;
  Dictionary dictionary_;
  std::vector<Origin> origins_;
  std::uint64_t size_ = 0;

  BlockView block_;                     // the one that was read last
  std::vector<std::uint64_t> aligned_;  // a copy of it, where the map's is not
  // What of the map was read since it was let go: about how much, and between which bytes.
  std::size_t mapped_ = 0;
  std::uintptr_t lowest_ = ~std::uintptr_t{0}, highest_ = 0;
};

}  // namespace psn::data
