// AddressCache: a thread's own view of the shared AddressTable. A choice that was seen before is
// resolved without a lock and without building a string.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "psn/core/address.h"
#include "psn/core/distribution.h"

namespace psn {

// What the author of a simulator may say about a choice.
struct SiteOptions {
  std::string_view name{};              // by which observations and queries refer to it
  std::string_view address{};           // replaces name and location in the address
  std::optional<std::int64_t> index{};  // for families of variables: bern_0, bern_1, ...
  bool control = true;  // false: always drawn from the model itself, never proposed by a guide
};

class AddressCache {
 public:
  explicit AddressCache(AddressTable& table);

  // `distribution` is null for tags and factors, whose type is `type` then.
  const Variable* variable(std::string_view scope, const SiteOptions& options,
                           const std::source_location& location, const Distribution* distribution,
                           std::string_view type);
  const Address* address(const Variable* variable, std::uint32_t instance);

  AddressTable& table() { return table_; }

 private:
  struct Entry {
    std::uint64_t hash = 0;
    const Variable* variable = nullptr;  // null: free
    std::string scope, name, address, type;
    const char* file = nullptr;
    std::uint32_t line = 0, column = 0;
    std::optional<std::int64_t> index;
    std::size_t family = 0, categories = 0;
    Shape shape;

    bool matches(std::string_view in_scope, const SiteOptions& options,
                 const std::source_location& location, const Distribution* distribution,
                 std::string_view of_type) const;
  };

  void grow();

  AddressTable& table_;
  std::vector<Entry> entries_;  // open addressing; a power of two
  std::size_t used_ = 0;
  std::vector<std::vector<const Address*>> instances_;  // by variable id, then instance - 1
};

}  // namespace psn
