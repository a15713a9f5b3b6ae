#include "psn/core/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "psn/base/error.h"

namespace psn {

std::string_view role_name(Role role) {
  constexpr std::array<std::string_view, 7> kNames{"sample", "observe", "tag",  "factor",
                                                   "finish", "fail",    "round"};
  return kNames[static_cast<std::size_t>(role)];
}

const Value* Trace::find(std::string_view name) const {
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (entry->role == Role::kFactor) continue;
    if (entry->address->name() == name || entry->address->text == name) return &entry->value;
  }
  return nullptr;
}

const Value& Trace::operator[](std::string_view name) const {
  if (const Value* value = find(name)) return *value;
  throw InvalidArgument(fmt::format("the trace has no variable named '{}'", name));
}

std::size_t Trace::length() const {
  return static_cast<std::size_t>(std::count_if(entries.begin(), entries.end(), [](const Entry& e) {
    return e.role == Role::kSample || e.role == Role::kObserve;
  }));
}

double Trace::log_transitions() const {
  return std::accumulate(transitions.begin(), transitions.end(), 0.0);
}

void Trace::clear() {
  entries.clear();
  result = Value();
  transitions.clear();
  log_joint = log_likelihood = log_weight = 0;
}

}  // namespace psn
