// TraceMessages: traces as bytes from one process to another, in the records of a store. Each
// message also brings the addresses and forms that are new since the one before, so they must be
// read in their order, all by one reader.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "psn/data/dictionary.h"

namespace psn::data {

class TraceMessages {
 public:
  // Addresses are those of `table`, which must outlive this.
  explicit TraceMessages(AddressTable& table) : dictionary_(table) {}

  std::string write(std::span<const Trace> traces);
  std::vector<Trace> read(const std::string& message);  // throws DataError

 private:
  Dictionary dictionary_;
  std::size_t addresses_sent_ = 0, forms_sent_ = 0;
};

}  // namespace psn::data
