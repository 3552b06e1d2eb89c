// Listening sockets, and a file descriptor that closes itself.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace berth::http {

class UniqueFd {
 public:
  explicit UniqueFd(int fd = -1) : fd_(fd) {}
  ~UniqueFd();
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.Release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;

  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

/// Returns an address and port as text, such as "127.0.0.1:80" or "[::1]:80".
std::string AddressText(const sockaddr_storage& address);

struct Listeners {
  std::vector<UniqueFd> sockets;
  uint16_t port = 0;
};

/// Opens one non-blocking listening socket per address, all on the same port. Errors name the
/// address.
base::Result<Listeners> Listen(const std::vector<std::string>& addresses, uint16_t port);

struct Accepted {
  UniqueFd socket;  // Holds -1 if `error` is set.
  std::string address;
  int error = 0;
};

/// Accepts the next connection. Its socket is non-blocking and ready for use.
Accepted Accept(int listener);

}  // namespace berth::http
