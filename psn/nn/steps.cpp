#include "psn/nn/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "psn/base/error.h"

namespace psn {
namespace {

Entry learnable(const Address* address, Role role, const Value& value) {
  if (!std::all_of(value.begin(), value.end(), [](double x) { return std::isfinite(x); })) {
    throw ModelError(
        role == Role::kObserve
            ? fmt::format("'{}' is {}: what is observed must be finite", address->text,
                          value.text())
            : fmt::format("'{}' is {}: a surrogate learns tags that are finite; `tags` ignore "
                          "leaves them out",
                          address->text, value.text()));
  }
  return {address,
          role,
          false,
          false,
          0,
          value,
          std::make_shared<const Distribution>(Normal(value, 0.0))};
}

}  // namespace

Steps::Steps(const Trace& trace, bool with_tags) {
  entries.reserve(trace.entries.size() + 1);
  const auto count = std::count_if(trace.entries.begin(), trace.entries.end(),
                                   [](const Entry& entry) { return is_derived(entry); });
  derived.reserve(static_cast<std::size_t>(count) + 1);  // room for all, so that none moves
  for (const Entry& entry : trace.entries) {
    if (!is_derived(entry)) {
      entries.push_back(&entry);
    } else if (with_tags || entry.role == Role::kObserve) {
      entries.push_back(&derived.emplace_back(learnable(entry.address, entry.role, entry.value)));
    }
  }
  if (!with_tags || trace.result.empty()) return;
  entries.push_back(
      &derived.emplace_back(learnable(&result_address(), Role::kFinish, trace.result)));
}

const Address& result_address() {
  static AddressTable table;
  static const Address& address =
      *table.address(table.variable({.base = "result", .name = "result", .type = "Result"}), 1);
  return address;
}

}  // namespace psn
