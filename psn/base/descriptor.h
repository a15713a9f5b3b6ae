// Descriptor: an open file or folder, closed when this goes out of scope.
#pragma once

#include <sys/file.h>
#include <unistd.h>

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

 private:
  int fd_;
};

}  // namespace psn
