#include "psn/io/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "psn/base/error.h"

namespace psn {
namespace {

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
    throw DataError(
        fmt::format("{} is at work on '{}': wait for it, or write elsewhere", holder(file_), path));
  } while (!file_.is_at(path_));
  sign(file_);
}

FileLock::~FileLock() {
  if (file_.is_at(path_)) ::unlink(path_.c_str());
}

}  // namespace psn
