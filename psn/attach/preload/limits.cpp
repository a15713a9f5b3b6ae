#include "psn/attach/preload/limits.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace psn::preload {
namespace {

struct OpenFile {
  int fd, flags;
};
OpenFile open_files[256];
std::size_t open_file_count = 0;

int count_threads() {
  DIR* folder = ::opendir("/proc/self/task");
  if (!folder) return 1;
  int count = 0;
  while (const dirent* entry = ::readdir(folder)) count += entry->d_name[0] != '.';
  ::closedir(folder);
  return count;
}

// Memory that copies would share, and write to.
bool shares_memory() {
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  if (!maps) return false;
  char line[512];
  bool shared = false;
  while (!shared && std::fgets(line, sizeof(line), maps)) {
    const char* access = std::strchr(line, ' ');
    shared = access && access[2] == 'w' && access[4] == 's';
    while (!std::strchr(line, '\n') && std::fgets(line, sizeof(line), maps)) continue;
  }
  std::fclose(maps);
  return shared;
}

// What is wrong with sharing this descriptor; nullptr: nothing, or it can be opened again.
const char* trouble(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return nullptr;
  const int flags = ::fcntl(fd, F_GETFL);
  if (S_ISSOCK(status.st_mode)) return "a socket is open";
  if (S_ISFIFO(status.st_mode)) return "a pipe is open";
  if (S_ISCHR(status.st_mode)) return nullptr;
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return "a device or timer is open";
  if ((flags & O_ACCMODE) != O_RDONLY) return "a file is open for writing";
  if (open_file_count == sizeof(open_files) / sizeof(open_files[0])) return "many files are open";
  open_files[open_file_count++] = {fd, flags};
  return nullptr;
}

}  // namespace

std::size_t find_limits(int own, std::span<const int> given, char* text, std::size_t size) {
  open_file_count = 0;
  if (const int threads = count_threads(); threads > 1) {
    return static_cast<std::size_t>(std::snprintf(text, size, "it has %d threads", threads));
  }
  const char* why = shares_memory() ? "it shares memory with other processes" : nullptr;
  DIR* folder = ::opendir("/proc/self/fd");
  while (const dirent* entry = folder && !why ? ::readdir(folder) : nullptr) {
    const int fd = std::atoi(entry->d_name);
    if (entry->d_name[0] == '.' || fd == own || fd == ::dirfd(folder)) continue;
    if (fd == STDOUT_FILENO || fd == STDERR_FILENO) continue;  // each copy has its own
    if (std::find(given.begin(), given.end(), fd) != given.end()) continue;
    why = trouble(fd);
  }
  if (folder) ::closedir(folder);
  return why ? static_cast<std::size_t>(std::snprintf(text, size, "%s", why)) : 0;
}

bool reopen_files() {
  for (std::size_t i = 0; i < open_file_count; ++i) {
    const auto [fd, flags] = open_files[i];
    const off_t place = ::lseek(fd, 0, SEEK_CUR);
    const int descriptor_flags = ::fcntl(fd, F_GETFD);
    if (descriptor_flags < 0) continue;  // closed meanwhile
    char path[64];
    std::snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    const int again = ::open(path, flags | O_CLOEXEC);
    if (again < 0) return false;
    if (place > 0) ::lseek(again, place, SEEK_SET);
    ::dup3(again, fd, (descriptor_flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
    ::close(again);
  }
  return true;
}

}  // namespace psn::preload
