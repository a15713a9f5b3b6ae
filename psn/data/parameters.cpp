#include "psn/data/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "psn/base/error.h"

namespace psn::data {

void require_valid(const Distribution& distribution, std::size_t size) {
  if (!distribution.valid()) throw DataError(*distribution.problem());
  if (distribution.size() != size) {
    throw DataError(fmt::format("a value of {} components for a {} of {}", size,
                                family_name(distribution.family()), distribution.size()));
  }
}

bool is_filled(const Value& value) {
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  return value.size() > 1 && std::all_of(value.begin() + 1, value.end(),
                                         [&](double x) { return bits(x) == bits(value[0]); });
}

}  // namespace psn::data
