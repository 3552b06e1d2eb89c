// A file descriptor that closes itself. Not thread-safe.
#pragma once

#include <unistd.h>

#include <utility>

namespace berth::base {

class Fd {
 public:
  /// Takes the result of open(2), also if that failed.
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&&) = delete;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;

  int Get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace berth::base
