// Dictionary: the addresses and forms of a store, by number. It only grows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <flatbuffers/flatbuffers.h>

#include "psn/data/form.h"

namespace psn::data {

using FormId = std::uint32_t;

class Dictionary {
 public:
  // Addresses are those of `table`, which must outlive the dictionary.
  explicit Dictionary(AddressTable& table) : table_(table) {}

  const std::vector<const Address*>& addresses() const { return addresses_; }
  const std::vector<Form>& forms() const { return forms_; }

  // The form of an entry; a new one if there is none that fits. What is written must be readable:
  // each new record is read once before it is kept, and InvalidArgument names the address.
  FormId form_of(const Entry& entry);

  // A trace as the payload of a record, and back. Writing throws InvalidArgument for what no store
  // can hold, and the dictionary is good for others still; reading throws DataError.
  std::string_view write(const Trace& trace);
  Trace read(std::string_view payload) const;

  // The records of the dictionary itself: those after the known ones are added in order.
  std::string address_bytes(std::size_t id) const;
  std::string form_bytes(std::size_t id) const;
  void add_address(std::string_view payload);
  void add_form(std::string_view payload);

 private:
  std::uint32_t number_of(const Address& address);
  void require_readable(const Form& form);
  std::string form_record(const Form& form) const;
  std::vector<FormId>& forms_at(const Address* address);

  AddressTable& table_;
  std::vector<const Address*> addresses_;
  std::vector<Form> forms_;
  std::unordered_map<const Address*, std::uint32_t> number_;
  // By the table's id of an address; the first place is for what programs return.
  std::vector<std::vector<FormId>> forms_by_address_;

  // Used again for each trace.
  flatbuffers::FlatBufferBuilder builder_;
  std::vector<FormId> used_;
  std::vector<double> numbers_;
};

}  // namespace psn::data
