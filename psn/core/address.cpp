#include "psn/core/address.h"

#include <fmt/format.h>

#include <charconv>

#include "psn/base/error.h"
#include "psn/base/text.h"

namespace psn {

std::string indexed_name(std::string_view name, std::optional<std::int64_t> index) {
  return index ? fmt::format("{}_{}", name, *index) : std::string(name);
}

std::optional<IndexedName> split_index(std::string_view text) {
  const auto mark = text.find_last_not_of("0123456789");
  if (mark == text.npos || mark == 0 || text[mark] != '_') return std::nullopt;
  const std::string_view digits = text.substr(mark + 1);
  if (digits.empty() || digits.size() > 18 || (digits.size() > 1 && digits[0] == '0')) {
    return std::nullopt;
  }
  std::int64_t index = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), index);
  return IndexedName{text.substr(0, mark), index};
}

AddressTable::AddressTable(Names names) : names_(names) {
  const auto boundary = [this](std::string_view text) {
    const Variable* v = variable({.base = text, .type = "Boundary"});
    return address(v, 1);
  };
  begin_ = boundary("begin-execution");
  end_ = boundary("end-execution");
}

// What a record is found by; no text has a newline in it.
std::string AddressTable::key(const std::string& text, const std::string& name) const {
  return names_ == Names::kSeveral ? text + '\n' + name : text;
}

const Site* AddressTable::site_locked(std::string text, const VariableKey& key) {
  auto& known = site_by_text_[text];
  if (!known) {
    known = &sites_.emplace_back(Site{
        static_cast<std::uint32_t>(sites_.size()), std::string(key.scope), std::string(key.base),
        std::string(key.name), std::string(key.type), std::move(text), key.type == kComputed});
  }
  return known;
}

const Variable* AddressTable::variable(const VariableKey& wanted) {
  std::string text =
      fmt::format("{}{}__{}", wanted.scope, indexed_name(wanted.base, wanted.index), wanted.type);
  std::string name = wanted.name.empty() ? "" : indexed_name(wanted.name, wanted.index);
  if (!is_printable(text) || !is_printable(name)) {
    throw ModelError(fmt::format("name or address '{}' is not printable UTF-8", escaped(text)));
  }
  const std::lock_guard lock(mutex_);
  auto& known = variable_by_text_[key(text, name)];
  if (!known) {
    std::string site = fmt::format("{}{}__{}", wanted.scope, wanted.base, wanted.type);
    known = &variables_.emplace_back(Variable{
        static_cast<std::uint32_t>(variables_.size()), site_locked(std::move(site), wanted),
        wanted.index, name, std::move(text), std::string(wanted.name), wanted.index});
    if (wanted.index) return known;
    if (const auto parts = split_index(known->name)) {
      variables_.back().list = parts->name;
      variables_.back().place = parts->index;
    }
    return known;
  }
  if (known->name != name) {
    throw ModelError(
        fmt::format("address '{}' is used with two names, '{}' and '{}'", text, known->name, name));
  }
  if (known->index != wanted.index) {
    throw ModelError(fmt::format("address '{}' is used with an index and without", text));
  }
  return known;
}

const Address* AddressTable::address(const Variable* variable, std::uint32_t instance) {
  std::string text = fmt::format("{}__{}", variable->text, instance);
  const std::lock_guard lock(mutex_);
  auto& known = address_by_text_[key(text, variable->name)];
  if (!known) {
    known = &addresses_.emplace_back(
        Address{static_cast<std::uint32_t>(addresses_.size()), variable, instance, text});
    address_by_text_.try_emplace(std::move(text), known);
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
