/* A library to be preloaded: lets calls of the C library fail, as a full disk, a broken one or a
 * process without memory would.
 *
 *   PSN_FAULT=CALL,N,ERROR     the N-th call fails with that errno, once
 *   PSN_FAULT=CALL,N,ERROR,on  and all after it
 *   PSN_FAULT_COUNT=FILE       at the end, the number of such calls is written there
 *
 * CALL is write, sync, rename, open, map or alloc. Only what is done to files counts: not what goes
 * to stdout and stderr, nor what the system's own libraries read; and only from when main() has
 * begun, which psn tells by setting a handler for SIGXFSZ. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum Kind { kWrite, kSync, kRename, kOpen, kMap, kAlloc, kNone };
static const char* const kNames[] = {"write", "sync", "rename", "open", "map", "alloc"};

static enum Kind wanted = kNone;
static long place = 0;
static int error_number = EIO;
static int goes_on = 0;
static atomic_long count = 0;
static atomic_int armed = 0;

static void read_wish(void) {
  const char* wish = getenv("PSN_FAULT");
  if (!wish) return;
  char call[16] = "", word[16] = "", on[4] = "";
  if (sscanf(wish, "%15[a-z],%ld,%15[A-Z],%3s", call, &place, word, on) < 3) return;
  for (int k = 0; k < kNone; ++k) {
    if (strcmp(call, kNames[k]) == 0) wanted = (enum Kind)k;
  }
  error_number = strcmp(word, "ENOSPC") == 0   ? ENOSPC
                 : strcmp(word, "EINTR") == 0  ? EINTR
                 : strcmp(word, "ENOMEM") == 0 ? ENOMEM
                                               : EIO;
  goes_on = strcmp(on, "on") == 0;
}

static int fails(enum Kind kind) {
  if (kind != wanted || !atomic_load(&armed)) return 0;
  const long n = atomic_fetch_add(&count, 1) + 1;
  if (place == 0 || !(n == place || (goes_on && n > place))) return 0;
  errno = error_number;
  return 1;
}

__attribute__((destructor)) static void tell(void) {
  const char* path = getenv("PSN_FAULT_COUNT");
  atomic_store(&armed, 0);
  FILE* file = path ? fopen(path, "w") : NULL;
  if (!file) return;
  fprintf(file, "%ld\n", atomic_load(&count));
  fclose(file);
}

/* The next definition of a function, found at its first call. */
#define NEXT(name, result, ...)                                    \
  static result (*next)(__VA_ARGS__) = NULL;                       \
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, name)

void (*signal(int number, void (*handler)(int)))(int) {
  typedef void (*Handler)(int);
  static Handler (*next)(int, Handler) = NULL;
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "signal");
  if (number == SIGXFSZ) {
    read_wish();
    atomic_store(&armed, 1);
  }
  return next(number, handler);
}

static int is_file(int fd) {
  return fd > STDERR_FILENO;
}

ssize_t write(int fd, const void* bytes, size_t size) {
  NEXT("write", ssize_t, int, const void*, size_t);
  return is_file(fd) && fails(kWrite) ? -1 : next(fd, bytes, size);
}

ssize_t writev(int fd, const struct iovec* parts, int number) {
  NEXT("writev", ssize_t, int, const struct iovec*, int);
  return is_file(fd) && fails(kWrite) ? -1 : next(fd, parts, number);
}

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t at) {
  NEXT("pwrite", ssize_t, int, const void*, size_t, off_t);
  return fails(kWrite) ? -1 : next(fd, bytes, size, at);
}

ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t at) {
  NEXT("pwrite64", ssize_t, int, const void*, size_t, off64_t);
  return fails(kWrite) ? -1 : next(fd, bytes, size, at);
}

ssize_t pwritev(int fd, const struct iovec* parts, int number, off_t at) {
  NEXT("pwritev", ssize_t, int, const struct iovec*, int, off_t);
  return fails(kWrite) ? -1 : next(fd, parts, number, at);
}

int ftruncate(int fd, off_t size) {
  NEXT("ftruncate", int, int, off_t);
  return fails(kWrite) ? -1 : next(fd, size);
}

int fsync(int fd) {
  NEXT("fsync", int, int);
  return fails(kSync) ? -1 : next(fd);
}

int fdatasync(int fd) {
  NEXT("fdatasync", int, int);
  return fails(kSync) ? -1 : next(fd);
}

int msync(void* at, size_t size, int flags) {
  NEXT("msync", int, void*, size_t, int);
  return fails(kSync) ? -1 : next(at, size, flags);
}

int rename(const char* from, const char* to) {
  NEXT("rename", int, const char*, const char*);
  return fails(kRename) ? -1 : next(from, to);
}

static int is_own(const char* path) {
  static const char* const kSystem[] = {"/proc", "/sys", "/dev", "/etc", "/usr", "/lib"};
  for (size_t i = 0; i < sizeof kSystem / sizeof *kSystem; ++i) {
    if (strncmp(path, kSystem[i], strlen(kSystem[i])) == 0) return 0;
  }
  return 1;
}

static mode_t mode_of(int flags, va_list rest) {
  return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

#define OPEN(name)                                        \
  int name(const char* path, int flags, ...) {            \
    NEXT(#name, int, const char*, int, ...);              \
    va_list rest;                                         \
    va_start(rest, flags);                                \
    const mode_t mode = mode_of(flags, rest);             \
    va_end(rest);                                         \
    return is_own(path) && fails(kOpen) ? -1 : next(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

void* mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset) {
  NEXT("mmap", void*, void*, size_t, int, int, int, off_t);
  return fd >= 0 && fails(kMap) ? MAP_FAILED : next(at, size, protection, flags, fd, offset);
}

void* mmap64(void* at, size_t size, int protection, int flags, int fd, off64_t offset) {
  NEXT("mmap64", void*, void*, size_t, int, int, int, off64_t);
  return fd >= 0 && fails(kMap) ? MAP_FAILED : next(at, size, protection, flags, fd, offset);
}

/* glibc's own, under the names that it keeps for this. */
extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

void* malloc(size_t size) {
  return fails(kAlloc) ? NULL : __libc_malloc(size);
}

void* calloc(size_t number, size_t size) {
  return fails(kAlloc) ? NULL : __libc_calloc(number, size);
}

void* realloc(void* old, size_t size) {
  return fails(kAlloc) ? NULL : __libc_realloc(old, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  return fails(kAlloc) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void** at, size_t alignment, size_t size) {
  if (fails(kAlloc)) return ENOMEM;
  *at = __libc_memalign(alignment, size);
  return *at ? 0 : ENOMEM;
}
