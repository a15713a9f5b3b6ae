#include "psn/io/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "psn/base/error.h"

namespace psn {
namespace {

[[noreturn]] void fail_to(std::string_view verb, const std::string& path) {
  throw DataError(fmt::format("cannot {} '{}': {}", verb, path, std::strerror(errno)));
}

bool write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool synced(int fd) {
  int result = 0;
  do result = ::fsync(fd);
  while (result != 0 && errno == EINTR);
  return result == 0;
}

std::string folder_of(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const auto slash = path.find_last_of('/');
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

void write_file_atomically(const std::string& path, std::string_view content) {
  remove_abandoned(path);
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  Descriptor file = hold_temporary(temporary, [&] {
    return ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  });
  if (file.get() < 0) fail_to("create", path);
  const bool good = write_all(file.get(), content) && synced(file.get()) && file.close() == 0 &&
                    ::rename(temporary.c_str(), path.c_str()) == 0;
  if (!good) {
    const int error = errno;
    ::unlink(temporary.c_str());
    errno = error;
    fail_to("write", path);
  }
  sync_folder(folder_of(path));
}

void rename_durably(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail_to("create", to);
  sync_folder(folder_of(to));
}

void sync_folder(const std::string& path) {
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) fail_to("open", path);
  // Some file systems know no such thing.
  if (!synced(folder.get()) && errno != EINVAL && errno != ENOTSUP) fail_to("write", path);
}

Descriptor hold_temporary(const std::string& path, const std::function<int()>& make) {
  for (;;) {
    Descriptor entry(make());
    if (entry.get() < 0) return entry;
    entry.lock();
    // Another process may have taken it for abandoned before it was locked.
    if (entry.is_at(path)) return entry;
  }
}

Descriptor hold_temporary_folder(const std::string& path) {
  return hold_temporary(path, [&] {
    int folder = -1;
    do {
      if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) return -1;
      folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    } while (folder < 0 && errno == ENOENT);  // taken for abandoned before it was open
    if (folder < 0) {
      const int error = errno;
      ::rmdir(path.c_str());
      errno = error;
    }
    return folder;
  });
}

void remove_abandoned(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path target = fs::absolute(path, error);
  const std::string prefix = target.filename().string() + ".";
  constexpr std::string_view kSuffix = ".tmp";
  for (const auto& entry : fs::directory_iterator(target.parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || !name.ends_with(kSuffix)) continue;
    const std::string_view number = std::string_view(name).substr(prefix.size());
    if (number.substr(0, number.size() - kSuffix.size()).find_first_not_of("0123456789") !=
        number.npos) {
      continue;
    }
    Descriptor file(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
    std::error_code ignored;
    if (file.get() >= 0 && file.try_lock()) fs::remove_all(entry.path(), ignored);
  }
}

std::string read_file(const std::string& path, std::size_t limit) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail_to("read", path);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail_to("read", path);
  if (S_ISDIR(status.st_mode)) throw DataError(fmt::format("'{}' is a directory", path));
  std::string content;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_to("read", path);
    if (count == 0) return content;
    content.append(buffer, static_cast<std::size_t>(count));
    if (content.size() > limit) {
      throw DataError(fmt::format("'{}' is larger than {} bytes", path, limit));
    }
  }
}

}  // namespace psn
