#include "psn/core/observations.h"

#include <fmt/format.h>

#include "psn/base/error.h"

namespace psn {

std::optional<Observations::Source> Observations::source(const Address& address,
                                                         std::size_t components) const {
  const Variable& variable = *address.variable;
  if (const auto exact = values_.find(address.text); exact != values_.end()) {
    return Source{&exact->first, &exact->second, std::nullopt};
  }
  if (variable.name.empty()) return std::nullopt;
  auto found = values_.find(variable.name);
  std::size_t position = address.instance - 1;
  if (found == values_.end()) {
    if (!variable.place) return std::nullopt;
    found = values_.find(variable.list);
    if (found == values_.end() || found->second.is_scalar()) return std::nullopt;
    position = static_cast<std::size_t>(*variable.place);
  } else if (found->second.size() == components || components != 1) {
    // A shape that does not fit is told by the density, with the address.
    return Source{&found->first, &found->second, std::nullopt};
  }
  const Value& values = found->second;
  if (position >= values.size()) {
    throw InvalidArgument(
        fmt::format("observation '{}' has {} values, none of them for '{}': null stands "
                    "for what was not measured; a surrogate that goes there has not learned where "
                    "its loop ends, which more `traces` help",
                    found->first, values.size(), address.text));
  }
  return Source{&found->first, &values, position};
}

std::optional<Value> Observations::find(const Address& address, std::size_t components) const {
  const auto found = source(address, components);
  return found ? std::optional(found->taken()) : std::nullopt;
}

const ObservationLookup::Known& ObservationLookup::look_up(const Address& address,
                                                           std::size_t components) {
  if (address.id >= known_.size()) known_.resize(address.id + 1);
  Known& known = known_[address.id];
  if (!known.looked_up) {
    const auto source = observations_->source(address, components);
    known = {true, source.value_or(Observations::Source{})};
  }
  return known;
}

}  // namespace psn
