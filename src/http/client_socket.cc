#include "http/client_socket.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "http/client_tls.h"
#include "http/socks.h"
#include "http/stop_signal.h"

namespace berth::http {
namespace {

using base::Fail;
using base::Reason;
using base::Result;
using std::chrono::steady_clock;

constexpr size_t kClientBuffer = size_t{64} << 10;

/// Lets the kernel notice a peer that is gone: after half a minute of silence it asks every ten
/// seconds, and gives up after three.
void SetSocketOptions(int socket) {
  const auto set = [socket](int level, int name, int value) {
    ::setsockopt(socket, level, name, &value, sizeof(value));
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

}  // namespace

void ClientSocket::SetLimits(std::chrono::nanoseconds silence, std::chrono::nanoseconds total) {
  silence_ = silence;
  total_ = total;
  deadline_ = total.count() > 0 ? steady_clock::now() + total : steady_clock::time_point::max();
}

void ClientSocket::Close() {
  transport_.reset();
  socket_ = UniqueFd();
}

bool ClientSocket::IsForwarded() const {
  return !options_.tls && (proxy_.kind == ProxyKind::kHttp || proxy_.kind == ProxyKind::kHttps);
}

// --- opening -------------------------------------------------------------------------------------

Result<void> ClientSocket::Open() {
  Close();
  auto opened = OpenTunnel();
  if (opened && options_.tls) {
    if (context_ == nullptr) {
      auto made = MakeClientContext(*options_.tls);
      if (!made) {
        Close();
        return tl::unexpected(made.error());
      }
      context_ = *std::move(made);
    }
    const std::string& name = options_.tls->server_name;
    opened = StartTls(context_.get(), name.empty() ? options_.host : name, Where(),
                      options_.tls->name_advice);
  }
  if (!opened) Close();
  return opened;
}

/// Makes a connection on which bytes reach the server, or the proxy that forwards requests.
Result<void> ClientSocket::OpenTunnel() {
  if (!std::exchange(proxy_read_, true)) {
    auto proxy = ParseProxyUrl(options_.proxy_url);
    if (!proxy) {
      proxy_read_ = false;
      return tl::unexpected(proxy.error());
    }
    proxy_ = *std::move(proxy);
  }
  const bool direct = proxy_.kind == ProxyKind::kNone;
  auto connected =
      direct ? ConnectTo(options_.host, options_.port) : ConnectTo(proxy_.host, proxy_.port);
  if (!connected) return connected;
  if (direct) return {};
  if (proxy_.kind == ProxyKind::kSocks5) {
    return ConnectThroughSocks(*this, proxy_, options_.host, options_.port);
  }
  if (proxy_.kind == ProxyKind::kHttps) {
    if (proxy_context_ == nullptr) {
      // The proxy is trusted by the same authorities as the server.
      auto made = MakeClientContext({.ca_pem = options_.tls ? options_.tls->ca_pem : "",
                                     .verify = !options_.tls || options_.tls->verify});
      if (!made) return tl::unexpected(made.error());
      proxy_context_ = *std::move(made);
    }
    auto started = StartTls(proxy_context_.get(), proxy_.host, proxy_.Where(), "");
    if (!started) return started;
  }
  if (IsForwarded()) return {};
  return ConnectThroughHttp(*this, proxy_, options_.host, options_.port);
}

Result<void> ClientSocket::ConnectTo(const std::string& host, uint16_t port) {
  if (auto fine = CheckLimits(); !fine) return fine;
  const addrinfo hints{.ai_flags = AI_NUMERICSERV,
                       .ai_family = AF_UNSPEC,
                       .ai_socktype = SOCK_STREAM,
                       .ai_protocol = 0,
                       .ai_addrlen = 0,
                       .ai_addr = nullptr,
                       .ai_canonname = nullptr,
                       .ai_next = nullptr};
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), fmt::format("{}", port).c_str(), &hints, &found);
  if (error != 0) {
    return Fail(Reason::kServiceUnavailable,
                fmt::format("cannot find {}: {}", host, gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, OpensslFree<::freeaddrinfo>> addresses(found);
  int last = 0;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    UniqueFd socket(::socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket.get() < 0) continue;
    last = ::connect(socket.get(), at->ai_addr, at->ai_addrlen) == 0 ? 0 : errno;
    if (last == EINPROGRESS) {
      socklen_t size = sizeof(last);
      last = ETIMEDOUT;
      const auto until = std::min(deadline_, steady_clock::now() + options_.connect_timeout);
      if (PollUntil(socket.get(), POLLOUT, until, options_.stop.get())) {
        ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &last, &size);
      }
    }
    if (auto fine = CheckLimits(); !fine) return fine;
    if (last != 0) continue;
    SetSocketOptions(socket.get());
    socket_ = std::move(socket);
    transport_ = std::make_unique<Transport>(socket_.get());
    return {};
  }
  return Fail(
      Reason::kServiceUnavailable,
      fmt::format("cannot connect to {}{}: {}", proxy_.kind == ProxyKind::kNone ? "" : "the proxy ",
                  HostAndPort(host, port), std::strerror(last)));
}

/// Puts TLS around the bytes of the connection, which may be TLS already.
Result<void> ClientSocket::StartTls(SSL_CTX* context, const std::string& name,
                                    const std::string& where, std::string_view name_advice) {
  SslPtr ssl = MakeClientSsl(context, name);
  SSL* const handle = ssl.get();
  transport_ = transport_->is_tls()
                   ? std::make_unique<Transport>(std::move(transport_), std::move(ssl))
                   : std::make_unique<Transport>(socket_.get(), std::move(ssl));
  for (;;) {
    const Transport::Status status = transport_->Handshake();
    if (status == Transport::Status::kOk) return {};
    if (status == Transport::Status::kError) {
      const auto verified = SSL_get_verify_result(handle);
      const bool trusted =
          verified == X509_V_OK || SSL_CTX_get_verify_mode(context) == SSL_VERIFY_NONE;
      return Fail(
          Reason::kServiceUnavailable,
          fmt::format("no TLS with {}: {}", where,
                      trusted ? transport_->error() : WhyNotTrusted(handle, name, name_advice)));
    }
    if (auto waited = Wait(status, options_.connect_timeout); !waited) return waited;
  }
}

// --- bytes ---------------------------------------------------------------------------------------

Result<void> ClientSocket::CheckLimits() const {
  if (options_.stop != nullptr && options_.stop->IsRaised()) {
    return Fail(Reason::kServiceUnavailable, fmt::format("the request to {} was stopped", Where()));
  }
  if (deadline_ == steady_clock::time_point::max() || steady_clock::now() < deadline_) return {};
  return Fail(Reason::kTimeout,
              fmt::format("{} has not answered completely within {}", Where(),
                          std::chrono::duration_cast<std::chrono::milliseconds>(total_)));
}

Result<void> ClientSocket::Wait(Transport::Status status, std::chrono::nanoseconds limit) {
  const int16_t events = status == Transport::Status::kWantWrite ? POLLOUT : POLLIN;
  const auto until = std::min(deadline_, steady_clock::now() + limit);
  if (PollUntil(socket_.get(), events, until, options_.stop.get())) return {};
  if (auto fine = CheckLimits(); !fine) return fine;
  return Fail(Reason::kTimeout, fmt::format("{} does not answer", Where()));
}

Result<void> ClientSocket::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const Transport::Outcome written = transport_->Write(bytes);
    if (written.status == Transport::Status::kOk) {
      bytes.remove_prefix(written.bytes);
    } else if (written.status == Transport::Status::kWantRead ||
               written.status == Transport::Status::kWantWrite) {
      if (auto waited = Wait(written.status, silence_); !waited) return waited;
    } else {
      return Fail(Reason::kServiceUnavailable,
                  fmt::format("{} has closed the connection", Where()));
    }
  }
  return {};
}

Result<size_t> ClientSocket::ReadSome(char* to, size_t size) {
  // A server that always has more to send never lets the client wait.
  if (auto fine = CheckLimits(); !fine) return tl::unexpected(fine.error());
  for (;;) {
    const Transport::Outcome read = transport_->Read(to, size);
    if (read.status == Transport::Status::kOk) return read.bytes;
    if (read.status == Transport::Status::kClosed || read.status == Transport::Status::kError) {
      return 0;
    }
    if (auto waited = Wait(read.status, silence_); !waited) return tl::unexpected(waited.error());
  }
}

Result<size_t> ClientSocket::Read(std::string& to) {
  std::array<char, kClientBuffer> buffer;  // NOLINT: no need to fill it first.
  auto read = ReadSome(buffer.data(), buffer.size());
  if (read) to.append(buffer.data(), *read);
  return read;
}

Result<std::string> ClientSocket::ReadExactly(size_t size) {
  std::string bytes(size, '\0');
  for (size_t have = 0; have < size;) {
    const auto read = ReadSome(bytes.data() + have, size - have);
    if (!read) return tl::unexpected(read.error());
    if (*read == 0) {
      return Fail(Reason::kServiceUnavailable,
                  fmt::format("the proxy {} has closed the connection", proxy_.Where()));
    }
    have += *read;
  }
  return bytes;
}

}  // namespace berth::http
