#include "store/etcd/testing/http.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>

namespace berth::store::etcd::testing {
namespace {

class Socket {
 public:
  Socket() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  bool Connect(const std::string& host, int port, std::chrono::milliseconds limit) const {
    if (fd_ < 0) return false;
    const timeval wait{.tv_sec = limit.count() / 1000, .tv_usec = limit.count() % 1000 * 1000};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    if (inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) return false;
    return connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }

  bool Send(std::string_view text) const {
    return send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }

  std::string ReadAll() const {
    std::string all;
    std::array<char, 4096> buffer{};
    for (;;) {
      const ssize_t got = recv(fd_, buffer.data(), buffer.size(), 0);
      if (got <= 0) return all;
      all.append(buffer.data(), static_cast<size_t>(got));
    }
  }

 private:
  const int fd_;
};

}  // namespace

std::optional<HttpAnswer> HttpFetch(const std::string& host, int port, const std::string& path,
                                    const std::string& body, const std::string& token,
                                    std::chrono::milliseconds limit) {
  const Socket socket;
  if (!socket.Connect(host, port, limit)) return std::nullopt;
  // With HTTP/1.0 the answer ends with the connection and is not chunked.
  const std::string head = fmt::format(
      "{} {} HTTP/1.0\r\nHost: {}\r\nContent-Length: {}\r\n{}\r\n", body.empty() ? "GET" : "POST",
      path, host, body.size(), token.empty() ? "" : fmt::format("Authorization: {}\r\n", token));
  if (!socket.Send(head + body)) return std::nullopt;
  const std::string answer = socket.ReadAll();
  const size_t end = answer.find("\r\n\r\n");
  if (!answer.starts_with("HTTP/1.") || end == std::string::npos) return std::nullopt;
  return HttpAnswer{.code = std::atoi(answer.c_str() + std::string_view("HTTP/1.0 ").size()),
                    .body = answer.substr(end + 4)};
}

}  // namespace berth::store::etcd::testing
