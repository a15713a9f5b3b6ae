#include "psn/core/trace_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "psn/base/error.h"

namespace psn {

std::uint64_t Share::index(std::uint64_t n) const {
  const std::uint64_t part = block / ranks;
  return n / part * block + rank * part + n % part;
}

std::uint64_t Share::count_of(std::uint64_t places) const {
  const std::uint64_t part = block / ranks, before = rank * part, rest = places % block;
  return places / block * part + std::min(part, rest - std::min(rest, before));
}

void Share::check() const {
  if (ranks > 0 && rank < ranks && block > 0 && block % ranks == 0) return;
  throw InvalidArgument(
      fmt::format("{} traces cannot be shared equally by {} readers", block, ranks));
}

}  // namespace psn
