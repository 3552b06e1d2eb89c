// A small proxy for tests: HTTP with CONNECT and absolute URLs, or SOCKS 5, plain or with TLS. Each
// connection has a thread.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "http/listener.h"
#include "http/testing/socket_peer.h"
#include "http/transport.h"

namespace berth::http {

class ProxyStandIn {
 public:
  struct Options {
    bool tls = false;
    bool socks = false;
    std::string refusal = {};  // Answered to each CONNECT if not empty: "407 Login Required".
  };

  explicit ProxyStandIn(Options options) : options_(std::move(options)) {
    listeners_ = Listen({"127.0.0.1"}, 0).value();
    if (options_.tls) context_ = TlsContext::Make(TestAuthority::Get().Settings()).value();
    acceptor_ = std::thread([this] { AcceptAll(); });
  }
  ~ProxyStandIn() {
    ::shutdown(listeners_.sockets.front().get(), SHUT_RDWR);
    acceptor_.join();
    for (std::thread& thread : threads_) thread.join();
  }

  uint16_t port() const { return listeners_.port; }
  /// Returns the first bytes of each connection.
  std::vector<std::string> Seen() {
    base::MutexLock lock(mutex_);
    return seen_;
  }

 private:
  /// A blocking connection with a client, with or without TLS.
  class Peer {
   public:
    Peer(UniqueFd socket, const TlsContext* context) : socket_(std::move(socket)) {
      if (context == nullptr) return;
      ssl_.reset(SSL_new(context->get()));
      SSL_set_fd(ssl_.get(), socket_.get());
      SSL_accept(ssl_.get());
    }
    int fd() const { return socket_.get(); }
    bool HasPending() const { return ssl_ && SSL_has_pending(ssl_.get()) == 1; }
    std::string Read(size_t most = 65536) {
      std::string bytes(most, '\0');
      const ssize_t got = ssl_ ? SSL_read(ssl_.get(), bytes.data(), static_cast<int>(most))
                               : ::recv(socket_.get(), bytes.data(), most, 0);
      bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
      return bytes;
    }
    void Write(std::string_view bytes) {
      while (!bytes.empty()) {
        const ssize_t sent =
            ssl_ ? SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()))
                 : ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return;
        bytes.remove_prefix(static_cast<size_t>(sent));
      }
    }

   private:
    UniqueFd socket_;
    SslPtr ssl_;
  };

  void AcceptAll() {
    pollfd wait{.fd = listeners_.sockets.front().get(), .events = POLLIN, .revents = 0};
    while (::poll(&wait, 1, -1) > 0) {
      const int socket = ::accept(wait.fd, nullptr, nullptr);
      if (socket < 0) return;
      threads_.emplace_back([this, socket] {
        Peer peer(UniqueFd(socket), context_.get());
        if (options_.socks) {
          ServeSocks(peer);
        } else {
          ServeHttp(peer);
        }
      });
    }
  }

  void Note(const std::string& text) {
    base::MutexLock lock(mutex_);
    seen_.push_back(text);
  }

  void ServeHttp(Peer& peer) {
    std::string head;
    while (head.find("\r\n\r\n") == std::string::npos) {
      const std::string part = peer.Read();
      if (part.empty()) return;
      head += part;
    }
    Note(head);
    if (head.starts_with("CONNECT")) {
      if (!options_.refusal.empty()) {
        peer.Write("HTTP/1.1 " + options_.refusal + "\r\nContent-Length: 0\r\n\r\n");
        return;
      }
      SocketPeer server(PortIn(head, head.find(' ')));
      peer.Write("HTTP/1.1 200 Connection established\r\nX-Via: test\r\n\r\n");
      Relay(peer, server);
    } else {  // "GET http://127.0.0.1:80/path HTTP/1.1"
      SocketPeer server(PortIn(head, head.find("://") + 1));
      const size_t host = head.find("://") + 3;
      const size_t path = head.find('/', host);
      server.Send(head.substr(0, head.find("http://")) + head.substr(path));
      Relay(peer, server);
    }
  }

  void ServeSocks(Peer& peer) {
    const std::string hello = peer.Read();
    const bool login = hello.size() > 3 && hello[3] == 2;
    peer.Write(login ? std::string_view("\5\2", 2) : std::string_view("\5\0", 2));
    std::string seen;
    if (login) {
      seen = peer.Read();
      peer.Write(std::string_view("\1\0", 2));
    }
    const std::string request = peer.Read();
    Note(seen + request);
    const auto byte = [&](size_t from_end) {
      return static_cast<unsigned char>(request[request.size() - from_end]);
    };
    SocketPeer server(static_cast<uint16_t>(byte(2) * 256 + byte(1)));
    peer.Write(std::string_view("\5\0\0\1\0\0\0\0\0\0", 10));
    Relay(peer, server);
  }

  static uint16_t PortIn(const std::string& text, size_t from) {
    return static_cast<uint16_t>(std::atoi(text.c_str() + text.find(':', from + 1) + 1));
  }

  static void Relay(Peer& peer, SocketPeer& server) {
    std::array<pollfd, 2> waits = {pollfd{.fd = peer.fd(), .events = POLLIN, .revents = 0},
                                   pollfd{.fd = server.fd(), .events = POLLIN, .revents = 0}};
    for (;;) {
      waits[1].revents = 0;
      if (!peer.HasPending()) ::poll(waits.data(), waits.size(), -1);
      if (peer.HasPending() || waits[0].revents != 0) {
        const std::string part = peer.Read();
        if (part.empty() || !server.Send(part)) return;
      }
      if (waits[1].revents != 0) {
        const std::string part = server.Receive();
        if (part.empty()) return;
        peer.Write(part);
      }
    }
  }

  const Options options_;
  Listeners listeners_;
  std::shared_ptr<const TlsContext> context_;
  std::thread acceptor_;
  std::vector<std::thread> threads_;  // Of the acceptor, until it ends.
  base::Mutex mutex_;
  std::vector<std::string> seen_ GUARDED_BY(mutex_);
};

}  // namespace berth::http
