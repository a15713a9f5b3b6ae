#include "psn/core/address_cache.h"

#include <fmt/format.h>

#include <cstring>
#include <functional>

namespace psn {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15;
  return hash ^ (hash >> 32);
}

constexpr std::size_t kNoFamily = ~std::size_t{0};  // a tag or a factor

// Most texts are empty or differ in length: no call is needed to see it.
bool same_text(std::string_view a, std::string_view b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

std::string_view basename(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

// "model.cpp:30:12"; where an author gives neither name nor address, the place stands for both.
std::string location_text(const std::source_location& location) {
  return fmt::format("{}:{}:{}", basename(location.file_name()), location.line(),
                     location.column());
}

}  // namespace

bool AddressCache::Entry::matches(std::string_view in_scope, const SiteOptions& options,
                                  const std::source_location& location,
                                  const Distribution* distribution,
                                  std::string_view of_type) const {
  if (index != options.index || !same_text(name, options.name) ||
      !same_text(address, options.address) || !same_text(scope, in_scope)) {
    return false;
  }
  if (file &&
      (file != location.file_name() || line != location.line() || column != location.column())) {
    return false;
  }
  if (!distribution) return family == kNoFamily && same_text(type, of_type);
  return family == static_cast<std::size_t>(distribution->family()) &&
         categories == distribution->categories() &&
         (shape.empty() ? distribution->is_scalar() : distribution->shape() == shape);
}

AddressCache::AddressCache(AddressTable& table) : table_(table), entries_(64) {}

const Variable* AddressCache::variable(std::string_view scope, const SiteOptions& options,
                                       const std::source_location& location,
                                       const Distribution* distribution, std::string_view type) {
  const bool by_location = options.name.empty() && options.address.empty();
  const std::size_t family =
      distribution ? static_cast<std::size_t>(distribution->family()) : kNoFamily;
  const std::size_t categories = distribution ? distribution->categories() : 0;

  const std::hash<std::string_view> hash_text;
  std::uint64_t hash = mix(family, categories);
  if (by_location) {
    hash = mix(hash, reinterpret_cast<std::uintptr_t>(location.file_name()));
    hash = mix(hash, location.line() * 4099ul + location.column());
  } else {
    hash = mix(hash, hash_text(options.name));
    if (!options.address.empty()) hash = mix(hash, hash_text(options.address));
  }
  if (options.index) hash = mix(hash, static_cast<std::uint64_t>(*options.index) + 1);
  if (!scope.empty()) hash = mix(hash, hash_text(scope));

  const std::size_t mask = entries_.size() - 1;
  std::size_t slot = hash & mask;
  for (; entries_[slot].variable; slot = (slot + 1) & mask) {
    const Entry& entry = entries_[slot];
    if (entry.hash == hash && entry.matches(scope, options, location, distribution, type)) {
      return entry.variable;
    }
  }

  const std::string place = by_location ? location_text(location) : "";
  const std::string_view base =
      !options.address.empty() ? options.address : (by_location ? place : options.name);
  const std::string type_name = distribution ? distribution->type_name() : std::string(type);
  const Variable* found = table_.variable({scope, base, options.name, type_name, options.index});
  entries_[slot] = {hash,
                    found,
                    std::string(scope),
                    std::string(options.name),
                    std::string(options.address),
                    type_name,
                    by_location ? location.file_name() : nullptr,
                    by_location ? location.line() : 0,
                    by_location ? location.column() : 0,
                    options.index,
                    family,
                    categories,
                    distribution ? distribution->shape() : Shape{}};
  if (++used_ * 2 > entries_.size()) grow();
  return found;
}

const Address* AddressCache::address(const Variable* variable, std::uint32_t instance) {
  if (variable->id >= instances_.size()) instances_.resize(variable->id + 1);
  auto& known = instances_[variable->id];
  // Instances of a trace come in order, so this loop runs at most once.
  while (known.size() < instance) {
    known.push_back(table_.address(variable, static_cast<std::uint32_t>(known.size() + 1)));
  }
  return known[instance - 1];
}

void AddressCache::grow() {
  std::vector<Entry> old(entries_.size() * 2);
  old.swap(entries_);
  const std::size_t mask = entries_.size() - 1;
  for (Entry& entry : old) {
    if (!entry.variable) continue;
    std::size_t slot = entry.hash & mask;
    while (entries_[slot].variable) slot = (slot + 1) & mask;
    entries_[slot] = std::move(entry);
  }
}

}  // namespace psn
