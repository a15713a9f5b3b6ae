// A run works in a folder of its own, where what the program may want to read are links. Who opens
// one of these to write gets a copy instead, so that no run changes what others read.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "psn/attach/preload/runtime.h"

namespace {

using namespace psn::preload;

// In place of the link, all that it led to; nothing, if that would be thrown away at once.
void replace_link(const char* path, bool keep) {
  const int from =
      keep ? static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC)) : -1;
  if (::unlink(path) != 0 || from < 0) {
    if (from >= 0) ::close(from);
    return;
  }
  const int to = static_cast<int>(
      ::syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  char bytes[65536];
  for (ssize_t got = 0; to >= 0 && (got = ::read(from, bytes, sizeof(bytes))) > 0;) {
    if (::write(to, bytes, static_cast<std::size_t>(got)) != got) break;
  }
  if (to >= 0) ::close(to);
  ::close(from);
}

// Only what lies in the folder of the run is a link of psn's: one to the same name.
bool is_our_link(const char* path) {
  struct stat status {};
  char target[4096], folder[4096];
  if (path[0] == '/' || ::lstat(path, &status) != 0 || !S_ISLNK(status.st_mode)) return false;
  const ssize_t length = ::readlink(path, target, sizeof(target) - 1);
  if (length <= 0 || !::getcwd(folder, sizeof(folder)) || !std::strstr(folder, "/psn-attach-")) {
    return false;
  }
  target[length] = '\0';
  const char* name = std::strrchr(path, '/');
  const char* old = std::strrchr(target, '/');
  return old && std::strcmp(old + 1, name ? name + 1 : path) == 0;
}

void before_writing(const char* path, bool keep) {
  if (!active()) return;
  const int error = errno;
  if (is_our_link(path)) replace_link(path, keep);
  errno = error;
}

void before_open(const char* path, int flags) {
  if ((flags & O_ACCMODE) != O_RDONLY) before_writing(path, (flags & O_TRUNC) == 0);
}

void before_fopen(const char* path, const char* mode) {
  if (std::strpbrk(mode, "wa+")) before_writing(path, mode[0] != 'w');
}

}  // namespace

#define PSN_NEXT(name) static auto* const next_one = next(&(name), #name)
// The third argument of open(), if there is one.
#define PSN_MODE(flags)                          \
  va_list arguments;                             \
  va_start(arguments, flags);                    \
  const mode_t mode = va_arg(arguments, mode_t); \
  va_end(arguments)

#define PSN_OPEN(name)                                    \
  PSN_EXPORT int name(const char* path, int flags, ...) { \
    PSN_NEXT(name);                                       \
    PSN_MODE(flags);                                      \
    before_open(path, flags);                             \
    return next_one(path, flags, mode);                   \
  }
#define PSN_OPENAT(name)                                              \
  PSN_EXPORT int name(int folder, const char* path, int flags, ...) { \
    PSN_NEXT(name);                                                   \
    PSN_MODE(flags);                                                  \
    if (folder == AT_FDCWD) before_open(path, flags);                 \
    return next_one(folder, path, flags, mode);                       \
  }
#define PSN_CREAT(name)                                \
  PSN_EXPORT int name(const char* path, mode_t mode) { \
    PSN_NEXT(name);                                    \
    before_writing(path, false);                       \
    return next_one(path, mode);                       \
  }
#define PSN_FOPEN(name)                                            \
  PSN_EXPORT std::FILE* name(const char* path, const char* mode) { \
    PSN_NEXT(name);                                                \
    before_fopen(path, mode);                                      \
    return next_one(path, mode);                                   \
  }
#define PSN_FREOPEN(name)                                                           \
  PSN_EXPORT std::FILE* name(const char* path, const char* mode, std::FILE* file) { \
    PSN_NEXT(name);                                                                 \
    if (path) before_fopen(path, mode);                                             \
    return next_one(path, mode, file);                                              \
  }

extern "C" {

PSN_OPEN(open)
PSN_OPEN(open64)
PSN_OPENAT(openat)
PSN_OPENAT(openat64)
PSN_CREAT(creat)
PSN_CREAT(creat64)
PSN_FOPEN(fopen)
PSN_FOPEN(fopen64)
PSN_FREOPEN(freopen)
PSN_FREOPEN(freopen64)

}  // extern "C"
