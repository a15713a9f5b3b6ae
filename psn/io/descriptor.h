// Descriptor: an open file or folder, closed when this goes out of scope.
#pragma once

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace psn {

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const { return fd_; }
  int close() {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 ? 0 : ::close(fd);
  }
  // Ours alone among all processes, until it is closed or this process ends, however that comes.
  // False if another has it, or if the file system knows no locks (errno tells).
  bool try_lock() const { return ::flock(fd_, LOCK_EX | LOCK_NB) == 0; }
  // Waits for it.
  bool lock() const { return ::flock(fd_, LOCK_EX) == 0; }
  // Is this what has that name? Another process may have removed it, and made another.
  bool is_at(const std::string& path) const {
    struct stat open_one {
    }, named{};
    return ::fstat(fd_, &open_one) == 0 && ::stat(path.c_str(), &named) == 0 &&
           open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
  }

 private:
  int fd_;
};

}  // namespace psn
