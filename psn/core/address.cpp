#include "psn/core/address.h"

#include <fmt/format.h>

#include "psn/base/error.h"
#include "psn/base/text.h"

namespace psn {

std::string indexed_name(std::string_view name, std::optional<std::int64_t> index) {
  return index ? fmt::format("{}_{}", name, *index) : std::string(name);
}

AddressTable::AddressTable() {
  const auto boundary = [this](std::string_view text) {
    const Variable* v = variable({.base = text, .type = "Boundary"});
    return address(v, 1);
  };
  begin_ = boundary("begin-execution");
  end_ = boundary("end-execution");
}

const Site* AddressTable::site_locked(std::string text, const VariableKey& key) {
  auto& known = site_by_text_[text];
  if (!known) {
    known = &sites_.emplace_back(
        Site{static_cast<std::uint32_t>(sites_.size()), std::string(key.scope),
             std::string(key.base), std::string(key.name), std::string(key.type), std::move(text)});
  }
  return known;
}

const Variable* AddressTable::variable(const VariableKey& key) {
  std::string text =
      fmt::format("{}{}__{}", key.scope, indexed_name(key.base, key.index), key.type);
  std::string name = key.name.empty() ? "" : indexed_name(key.name, key.index);
  if (!is_printable(text) || !is_printable(name)) {
    throw ModelError(fmt::format("name or address '{}' is not printable UTF-8", escaped(text)));
  }
  const std::lock_guard lock(mutex_);
  if (const auto found = variable_by_text_.find(text); found != variable_by_text_.end()) {
    if (found->second->name != name) {
      throw ModelError(fmt::format("address '{}' is used with two names, '{}' and '{}'", text,
                                   found->second->name, name));
    }
    if (found->second->index != key.index) {
      throw ModelError(fmt::format("address '{}' is used with an index and without", text));
    }
    return found->second;
  }
  const Site* site = site_locked(fmt::format("{}{}__{}", key.scope, key.base, key.type), key);
  const Variable* added = &variables_.emplace_back(Variable{
      static_cast<std::uint32_t>(variables_.size()), site, key.index, std::move(name), text});
  variable_by_text_.emplace(std::move(text), added);
  return added;
}

const Address* AddressTable::address(const Variable* variable, std::uint32_t instance) {
  std::string text = fmt::format("{}__{}", variable->text, instance);
  const std::lock_guard lock(mutex_);
  auto& known = address_by_text_[text];
  if (!known) {
    known = &addresses_.emplace_back(Address{static_cast<std::uint32_t>(addresses_.size()),
                                             variable, instance, std::move(text)});
  }
  return known;
}

const Address* AddressTable::find(std::string_view text) const {
  const std::lock_guard lock(mutex_);
  const auto found = address_by_text_.find(std::string(text));
  return found == address_by_text_.end() ? nullptr : found->second;
}

std::size_t AddressTable::size() const {
  const std::lock_guard lock(mutex_);
  return addresses_.size();
}

const Address* AddressTable::at(std::uint32_t id) const {
  const std::lock_guard lock(mutex_);
  return &addresses_.at(id);
}

}  // namespace psn
