#include "psn/attach/preload/call_site.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "psn/attach/preload/runtime.h"

namespace psn::preload {
namespace {

constexpr int kMostFrames = 64;

const void* base_of(const void* address) {
  Dl_info info{};
  return ::dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

const char* basename_of(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

// The main program's own name is that of its file, not what it was called by.
const char* program_name() {
  static char path[4096];
  static const char* name = nullptr;
  if (!name) {
    const ssize_t length = ::readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[std::max<ssize_t>(length, 0)] = '\0';
    name = basename_of(path);
  }
  return name;
}

// Finding a module takes longer than all the rest, and the same calls come again and again.
struct Place {
  const void* address;
  const void* base;
  const char* module;
};
Place known[1024];

const Place& place_of(const void* address) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  Place& place = known[(number ^ (number >> 10)) % (sizeof(known) / sizeof(known[0]))];
  if (place.address == address) return place;
  Dl_info info{};
  place = {address, nullptr, "?"};
  if (::dladdr(address, &info) == 0) return place;
  place.base = info.dli_fbase;
  const bool main_program = std::strcmp(info.dli_fname, program_invocation_name) == 0;
  place.module = main_program ? program_name() : basename_of(info.dli_fname);
  return place;
}

}  // namespace

std::size_t call_site(int depth, char* text, std::size_t size) {
  static const void* const own = base_of(reinterpret_cast<const void*>(&call_site));
  static const void* const libc = base_of(next_symbol("qsort"));
  constexpr int kOwnFrames = 8;
  void* frames[kMostFrames];
  const int count = ::backtrace(frames, std::min(depth + kOwnFrames, kMostFrames));
  std::size_t used = 0;
  int shown = 0;
  for (int i = 0; i < count && shown < depth; ++i) {
    const Place& place = place_of(frames[i]);
    if (place.base == own && shown == 0) continue;
    if (place.base == libc) break;
    const auto offset = static_cast<const char*>(frames[i]) - static_cast<const char*>(place.base);
    const int length = std::snprintf(text + used, size - used, "%s%s+0x%tx", shown > 0 ? "<" : "",
                                     place.module, offset);
    if (length < 0 || used + static_cast<std::size_t>(length) >= size) break;
    used += static_cast<std::size_t>(length);
    ++shown;
  }
  return used;
}

}  // namespace psn::preload
