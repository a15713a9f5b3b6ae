#include "psn/core/observations.h"

#include <fmt/format.h>

#include "psn/base/error.h"

namespace psn {

std::optional<Value> Observations::find(const Address& address, std::size_t components) const {
  const Variable& variable = *address.variable;
  if (variable.name.empty()) return std::nullopt;
  auto found = values_.find(variable.name);
  std::size_t position = address.instance - 1;
  if (found == values_.end()) {
    if (!variable.place) return std::nullopt;
    found = values_.find(variable.list);
    if (found == values_.end() || found->second.is_scalar()) return std::nullopt;
    position = static_cast<std::size_t>(*variable.place);
  } else if (found->second.size() == components || components != 1) {
    return found->second;  // a shape that does not fit is told by the density, with the address
  }
  const Value& values = found->second;
  if (position >= values.size()) {
    throw InvalidArgument(fmt::format("observation '{}' has {} values, but '{}' needs number {}",
                                      found->first, values.size(), address.text, position));
  }
  return Value(values[position]);
}

}  // namespace psn
