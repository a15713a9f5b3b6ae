// Observations: what was measured, by name.
#pragma once

#include <map>
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
  bool empty() const { return values_.empty(); }
  const std::map<std::string, Value>& values() const { return values_; }

  // The value for this address, or nullopt. A site "x" takes the observation "x". A vector also
  // feeds the scalar sites of its name one by one: sites with an index ("obs_0", "obs_1", ...) by
  // index, repeated sites by instance. Throws InvalidArgument past the vector's end.
  std::optional<Value> find(const Address& address, std::size_t components) const;

 private:
  std::map<std::string, Value> values_;
};

}  // namespace psn
