// Observations: what was measured, by name or address. A component that was not measured is NaN
// (psn/core/missing.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "psn/core/address.h"
#include "psn/core/value.h"

namespace psn {

class Observations {
 public:
  Observations() = default;
  Observations(std::initializer_list<std::pair<const std::string, Value>> values)
      : values_(values) {}

  void set(std::string name, Value value) { values_[std::move(name)] = std::move(value); }
  bool contains(const std::string& name) const { return values_.contains(name); }
  bool empty() const { return values_.empty(); }
  const std::map<std::string, Value>& values() const { return values_; }

  // Which observation an address takes, and which of its components.
  struct Source {
    const std::string* name = nullptr;  // as it was set
    const Value* value = nullptr;
    std::optional<std::size_t> component;  // nullopt: all of them

    Value taken() const { return component ? Value((*value)[*component]) : *value; }
  };
  // An address takes the observation of its own text, else of its name. A vector also feeds the
  // scalar sites of its name one by one: sites with an index ("obs_0", "obs_1", ...) by index,
  // repeated sites by instance. Throws InvalidArgument past the vector's end.
  std::optional<Source> source(const Address& address, std::size_t components) const;
  // The value for this address, or nullopt.
  std::optional<Value> find(const Address& address, std::size_t components) const;

 private:
  std::map<std::string, Value> values_;
};

// Observations looked up at every choice of a run: remembers which address takes what. The
// observations (none: nullptr) must outlive it, unchanged. Not thread-safe.
class ObservationLookup {
 public:
  explicit ObservationLookup(const Observations* observations)
      : observations_(observations && !observations->empty() ? observations : nullptr) {}
  std::optional<Value> find(const Address& address, std::size_t components) {
    if (!observations_) return std::nullopt;
    const Known& known = look_up(address, components);
    return known.source.value ? std::optional(known.source.taken()) : std::nullopt;
  }

 private:
  struct Known {
    bool looked_up = false;
    Observations::Source source;  // no value: the address takes none
  };
  const Known& look_up(const Address& address, std::size_t components);

  const Observations* observations_;
  std::vector<Known> known_;  // by address id
};

}  // namespace psn
