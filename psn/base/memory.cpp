#include "psn/base/memory.h"

#include <sys/sysinfo.h>

namespace psn {

std::uint64_t physical_memory() {
  struct sysinfo memory {};
  ::sysinfo(&memory);
  return std::uint64_t{memory.totalram} * memory.mem_unit;
}

}  // namespace psn
