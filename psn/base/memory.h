// What this machine has of it.
#pragma once

#include <cstdint>

namespace psn {

std::uint64_t physical_memory();  // bytes

}  // namespace psn
