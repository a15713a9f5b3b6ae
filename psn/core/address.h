// Addresses: the names by which random choices are told apart and recognised across traces.
//
//   site      scope + (explicit address, else name, else source location) + type
//   variable  a site with its index, if the author gave one: {.name = "bern", .index = 2}
//   address   a variable with an instance count: its n-th occurrence within a trace
//
// "bern_2__Categorical(len_probs:2)__1" is the first instance of index 2 of the site
// "bern__Categorical(len_probs:2)". The instance is bookkeeping that follows from the trace so far,
// so a network may work on sites, on variables or on whole addresses.
//
// All three are interned: plain immutable records that live as long as their table and are compared
// by pointer. Ids are dense and follow the order of first use, which depends on thread timing;
// results never do.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace psn {

// The type of observations that are computed, not drawn.
inline constexpr std::string_view kComputed = "Observe";

struct Site {
  std::uint32_t id = 0;
  std::string scope;      // "" or "outer/inner/"
  std::string base;       // explicit address, else name, else source location
  std::string name;       // as the author gave it, without index; empty for an unnamed site
  std::string type;       // "Normal", "Categorical(len_probs:2)", "Tag", "Factor", "Observe"
  std::string text;       // scope, base and type: "loop/bern__Categorical(len_probs:2)"
  bool computed = false;  // an observation that the program computes: its type is kComputed
};

struct Variable {
  std::uint32_t id = 0;
  const Site* site = nullptr;
  std::optional<std::int64_t> index;
  std::string name;  // with index: "bern_2"; empty for an unnamed site
  std::string text;  // an address without its instance
  // "obs_3" is at place 3 of the list "obs", whether the author gave the index apart or, as over
  // PPX, as part of the name.
  std::string list;
  std::optional<std::int64_t> place;
};

struct Address {
  std::uint32_t id = 0;
  const Variable* variable = nullptr;
  std::uint32_t instance = 0;  // counts from 1
  std::string text;

  const std::string& name() const { return variable->name; }
};

// What identifies a variable, as a simulator states it at each choice.
struct VariableKey {
  std::string_view scope;  // "" or "outer/inner/"
  std::string_view base;   // explicit address, else name, else source location
  std::string_view name;   // may be empty
  std::string_view type;
  std::optional<std::int64_t> index;
};

// Thread-safe. Begin and end of a trace are addresses like others, with ids 0 and 1.
class AddressTable {
 public:
  // Over PPX a name is no part of an address: one address may then go by several names, and is a
  // record of its own for each.
  enum class Names { kOnePerAddress, kSeveral };

  explicit AddressTable(Names names = Names::kOnePerAddress);
  AddressTable(const AddressTable&) = delete;
  AddressTable& operator=(const AddressTable&) = delete;

  // Throws ModelError if one address is used with two different names, where it may have one.
  const Variable* variable(const VariableKey& key);
  const Address* address(const Variable* variable, std::uint32_t instance);

  const Address* begin() const { return begin_; }
  const Address* end() const { return end_; }

  // nullptr if the text is unknown. Any of those with that text.
  const Address* find(std::string_view text) const;
  std::size_t size() const;
  const Address* at(std::uint32_t id) const;

 private:
  std::string key(const std::string& text, const std::string& name) const;
  const Site* site_locked(std::string text, const VariableKey& key);

  Names names_;
  mutable std::mutex mutex_;
  std::deque<Site> sites_;
  std::deque<Variable> variables_;
  std::deque<Address> addresses_;
  std::unordered_map<std::string, const Site*> site_by_text_;
  std::unordered_map<std::string, const Variable*> variable_by_text_;
  std::unordered_map<std::string, const Address*> address_by_text_;
  const Address* begin_ = nullptr;
  const Address* end_ = nullptr;
};

// "name" or "name_3".
std::string indexed_name(std::string_view name, std::optional<std::int64_t> index);

// The other way: "obs_3" is "obs" and 3. None if that would not give the same text again
// ("obs_03").
struct IndexedName {
  std::string_view name;
  std::int64_t index;
};
std::optional<IndexedName> split_index(std::string_view text);

}  // namespace psn
