#include "http/listener.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

namespace berth::http {
namespace {

constexpr int kBacklog = 4096;
constexpr int kTries = 20;  // Attempts to find a port that is free on every address.
// A peer that vanished is noticed after about two minutes.
constexpr int kKeepIdleSeconds = 60;
constexpr int kKeepIntervalSeconds = 15;
constexpr int kKeepProbes = 4;

struct Endpoint {
  sockaddr_storage address{};
  socklen_t size = 0;
};

std::optional<Endpoint> ParseAddress(const std::string& text, uint16_t port) {
  Endpoint endpoint;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&endpoint.address);
  if (inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    endpoint.size = sizeof(sockaddr_in);
    return endpoint;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&endpoint.address);
  if (inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    endpoint.size = sizeof(sockaddr_in6);
    return endpoint;
  }
  return std::nullopt;
}

void SetOption(int socket, int level, int name, int value) {
  ::setsockopt(socket, level, name, &value, sizeof(value));
}

uint16_t PortOf(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET
                   ? reinterpret_cast<const sockaddr_in*>(&address)->sin_port
                   : reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port);
}

/// Returns a listening socket, or -1 with errno set.
UniqueFd ListenOn(const Endpoint& endpoint, bool only_v6) {
  UniqueFd socket(
      ::socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return socket;
  SetOption(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (endpoint.address.ss_family == AF_INET6) {
    SetOption(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, only_v6 ? 1 : 0);
  }
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&endpoint.address), endpoint.size) !=
          0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    const int error = errno;
    socket = UniqueFd();
    errno = error;
  }
  return socket;
}

}  // namespace

UniqueFd::~UniqueFd() {
  if (fd_ >= 0) ::close(fd_);
}

std::string AddressText(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    return fmt::format("{}:{}", text.data(), ntohs(v4.sin_port));
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
    inet_ntop(AF_INET, &v6.sin6_addr.s6_addr[12], text.data(), text.size());
    return fmt::format("{}:{}", text.data(), ntohs(v6.sin6_port));
  }
  inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
  return fmt::format("[{}]:{}", text.data(), ntohs(v6.sin6_port));
}

base::Result<Listeners> Listen(const std::vector<std::string>& addresses, uint16_t port) {
  if (addresses.empty()) return base::Fail(base::Reason::kInvalid, "no address to listen on");
  // "::" serves IPv4 as well, unless the list has an IPv4 address too.
  const bool only_v6 = std::ranges::any_of(
      addresses, [](const std::string& text) { return text.find(':') == std::string::npos; });
  for (int attempt = 0;; ++attempt) {
    Listeners listeners{.sockets = {}, .port = port};
    int error = 0;
    std::string failed;
    for (const std::string& text : addresses) {
      const auto endpoint = ParseAddress(text, listeners.port);
      if (!endpoint) {
        return base::Fail(base::Reason::kInvalid, fmt::format("{} is not an IP address", text));
      }
      UniqueFd socket = ListenOn(*endpoint, only_v6);
      if (socket.get() < 0) {
        error = errno;
        failed = AddressText(endpoint->address);
        break;
      }
      if (listeners.port == 0) listeners.port = PortOf(socket.get());
      listeners.sockets.push_back(std::move(socket));
    }
    if (error == 0) return listeners;
    // A port picked for the first address may be taken on the next.
    if (port == 0 && error == EADDRINUSE && attempt < kTries) continue;
    return base::Fail(base::Reason::kServiceUnavailable,
                      fmt::format("cannot listen on {}: {}", failed, std::strerror(error)));
  }
}

Accepted Accept(int listener) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  Accepted accepted;
  accepted.socket = UniqueFd(::accept4(listener, reinterpret_cast<sockaddr*>(&address), &size,
                                       SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (accepted.socket.get() < 0) {
    accepted.error = errno;
    return accepted;
  }
  const int socket = accepted.socket.get();
  SetOption(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  SetOption(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  SetOption(socket, IPPROTO_TCP, TCP_KEEPIDLE, kKeepIdleSeconds);
  SetOption(socket, IPPROTO_TCP, TCP_KEEPINTVL, kKeepIntervalSeconds);
  SetOption(socket, IPPROTO_TCP, TCP_KEEPCNT, kKeepProbes);
  accepted.address = AddressText(address);
  return accepted;
}

}  // namespace berth::http
