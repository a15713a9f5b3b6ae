#include "psn/base/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "psn/base/error.h"

namespace psn {
namespace {

// Is the open file still the one of that name? Its last holder may have removed it meanwhile.
bool is_at(const Descriptor& file, const std::string& path) {
  struct stat open_one {
  }, named{};
  return ::fstat(file.get(), &open_one) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

// "process 17 on this-machine", as its holder wrote it.
std::string holder(const Descriptor& file) {
  char text[300];
  const ssize_t size = ::pread(file.get(), text, sizeof text, 0);
  return size > 0 ? std::string(text, static_cast<std::size_t>(size)) : "another process";
}

void sign(const Descriptor& file) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  const std::string text = fmt::format("process {} on {}", ::getpid(), host);
  // For messages only: a full disk is no reason not to begin.
  if (::ftruncate(file.get(), 0) == 0) {
    [[maybe_unused]] const ssize_t written = ::pwrite(file.get(), text.data(), text.size(), 0);
  }
}

}  // namespace

FileLock::FileLock(const std::string& path) : path_(path + ".lock") {
  do {
    file_ = Descriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (file_.get() < 0) {
      throw DataError(fmt::format("cannot create '{}': {}", path_, std::strerror(errno)));
    }
    if (file_.try_lock()) continue;
    if (errno != EWOULDBLOCK) return;
    throw DataError(fmt::format("{} is at work on '{}': wait for it, or give another --out",
                                holder(file_), path));
  } while (!is_at(file_, path_));
  sign(file_);
}

FileLock::~FileLock() {
  if (is_at(file_, path_)) ::unlink(path_.c_str());
}

}  // namespace psn
