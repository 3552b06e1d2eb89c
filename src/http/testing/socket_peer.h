// The client's end of a connection for tests: a blocking stream of bytes, plain or TLS, that knows
// nothing of HTTP. Also a server fixture with test certificates.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "http/certificates.h"
#include "http/listener.h"
#include "http/openssl.h"
#include "http/server.h"
#include "http/testing/h2_peer.h"

namespace berth::http {

/// One authority for all tests of the program, since making keys takes time.
struct TestAuthority {
  static const TestAuthority& Get() {
    static const TestAuthority authority;
    return authority;
  }
  TlsSettings Settings() const {
    return {.certificate_pem = serving.certificate_pem,
            .key_pem = serving.key_pem,
            .client_ca_pem = ca.certificate_pem};
  }

  base::SystemClock clock;
  Validity validity{.from = clock.Now()};
  KeyPair ca = MakeAuthority("test-ca", validity).value();
  KeyPair serving = MakeServing(ca, {"server", {"localhost"}, {"127.0.0.1"}}, validity).value();
};

class SocketPeer {
 public:
  struct Tls {
    bool http2 = false;
    const KeyPair* certificate = nullptr;
  };

  explicit SocketPeer(uint16_t port, std::optional<Tls> tls = std::nullopt,
                      int receive_buffer = 0) {
    socket_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (receive_buffer > 0) {
      ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ =
        ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    // Otherwise the first request waits until the server has acknowledged the handshake.
    const int on = 1;
    ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    SetTimeout(std::chrono::seconds(10));
    if (tls && connected_) connected_ = StartTls(*tls);
  }

  bool connected() const { return connected_; }
  int fd() const { return socket_.get(); }

  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ssl_
                               ? SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()))
                               : ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  /// Returns some bytes, or "" at the end and after ten seconds without any.
  std::string Receive() {
    std::array<char, 65536> buffer;  // NOLINT: no need to fill it first.
    const ssize_t got = ssl_ ? SSL_read(ssl_.get(), buffer.data(), buffer.size())
                             : ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    return got > 0 ? std::string(buffer.data(), static_cast<size_t>(got)) : "";
  }
  std::string ReceiveUntil(std::string_view end) {
    std::string all;
    while (all.find(end) == std::string::npos) {
      const std::string part = Receive();
      if (part.empty()) break;
      all += part;
    }
    return all;
  }
  std::string ReceiveAll() {
    std::string all;
    for (std::string part = Receive(); !part.empty(); part = Receive()) all += part;
    return all;
  }
  std::string Exchange(std::string_view bytes, std::string_view end) {
    Send(bytes);
    return ReceiveUntil(end);
  }

  /// Exchanges bytes for an HTTP/2 client until `done`. Returns false if the connection ends
  /// before.
  bool Talk(H2Peer& peer, const std::function<bool()>& done) {
    for (;;) {
      if (const std::string out = peer.Take(); !out.empty() && !Send(out)) return done();
      if (done()) return true;
      const std::string in = Receive();
      if (in.empty()) return done();
      peer.Give(in);
    }
  }

  void SetTimeout(std::chrono::milliseconds limit) {
    const timeval time{.tv_sec = limit.count() / 1000, .tv_usec = (limit.count() % 1000) * 1000};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
  }
  void Close() {
    ssl_.reset();
    socket_ = UniqueFd();
  }

 private:
  bool StartTls(const Tls& tls) {
    ctx_.reset(SSL_CTX_new(TLS_client_method()));
    if (tls.certificate != nullptr) {
      auto certificate = ReadCertificates(tls.certificate->certificate_pem, "test").value();
      const auto key = ReadKey(tls.certificate->key_pem, "test").value();
      SSL_CTX_use_certificate(ctx_.get(), certificate.front().get());
      SSL_CTX_use_PrivateKey(ctx_.get(), key.get());
    }
    ssl_.reset(SSL_new(ctx_.get()));
    const std::string protocol = tls.http2 ? "\x02h2" : "\x08http/1.1";
    SSL_set_alpn_protos(ssl_.get(), reinterpret_cast<const unsigned char*>(protocol.data()),
                        static_cast<unsigned>(protocol.size()));
    SSL_set_fd(ssl_.get(), socket_.get());
    return SSL_connect(ssl_.get()) == 1;
  }

  UniqueFd socket_;
  SslCtxPtr ctx_;
  SslPtr ssl_;
  bool connected_ = false;
};

/// A running server. The handler answers "METHOD path body" unless the test sets another one.
class TestServer {
 public:
  explicit TestServer(bool tls = false, Limits limits = {}, Handler handler = Echo) {
    ServerOptions options;
    options.io_threads = 2;
    options.limits = limits;
    if (tls) options.tls = TestAuthority::Get().Settings();
    server = std::make_unique<Server>(std::move(options), std::move(handler), log, clock);
    started = server->Start();
  }

  static void Echo(const Request& request, const Responder& respond) {
    respond.Finish({.body = request.method + " " + request.path + " " + request.body});
  }

  uint16_t port() const { return server->port(); }
  SocketPeer Plain() const { return SocketPeer(port()); }
  SocketPeer Http1() const { return SocketPeer(port(), SocketPeer::Tls{}); }
  SocketPeer Http2() const { return SocketPeer(port(), SocketPeer::Tls{.http2 = true}); }

  /// Waits until a condition holds that the server's threads bring about. Returns false if it never
  /// does.
  static bool Eventually(const std::function<bool()>& holds) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!holds()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      ::usleep(1000);
    }
    return true;
  }

  base::SystemClock clock;
  base::Logger log{{.sink = [](std::string_view) {}}, clock};
  std::unique_ptr<Server> server;
  base::Result<void> started;
};

/// Raises the limit of open files, for tests that hold both ends of a thousand connections.
inline void AllowManyFiles() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace berth::http
