// The raw limit of a watch: one thread that writes the same bytes to the same connections. Every
// PUT it gets becomes an event of the given size, which it writes to every connection that has
// asked for a watch, one after the other and straight by OpenSSL, with the TLS settings of Berth's
// server. There is no store, no cursor, no queue and no deadline.
//
//   bare_watch PORT BYTES CA_FILE
//
// Writes the certificate of its authority to CA_FILE, says "ready" and serves until it is killed.
// It knows as much of HTTP as watch_load sends: whole requests, and HTTP/2 without a dynamic table.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "driver.h"
#include "http/certificates.h"
#include "http/transport.h"

namespace berth::bench {
namespace {

constexpr std::string_view kSent = "\"sent\":\"";
constexpr size_t kFrameHead = 9;
/// As much as Berth hands to OpenSSL at a time.
constexpr size_t kTogether = size_t{64} << 10;

std::string FrameHead(size_t size, uint8_t type, uint8_t flags, uint32_t stream) {
  std::string head;
  for (int shift = 16; shift >= 0; shift -= 8) head += static_cast<char>(size >> shift);
  head += static_cast<char>(type);
  head += static_cast<char>(flags);
  for (int shift = 24; shift >= 0; shift -= 8) head += static_cast<char>(stream >> shift);
  return head;
}

class Client {
 public:
  /// Waits for the handshake.
  Client(int socket, SSL_CTX* context) : socket_(socket), ssl_(SSL_new(context)) {
    SSL_set_fd(ssl_.get(), socket_);
    alive_ = SSL_accept(ssl_.get()) == 1;
    fcntl(socket_, F_SETFL, O_NONBLOCK);
    const unsigned char* name = nullptr;
    unsigned int size = 0;
    SSL_get0_alpn_selected(ssl_.get(), &name, &size);
    http2_ = size == 2;
  }
  ~Client() {
    ssl_.reset();
    close(socket_);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  int socket() const { return socket_; }
  bool alive() const { return alive_; }
  bool watches() const { return !streams_.empty(); }

  /// Returns the body of a PUT that has arrived, or "" if no PUT has.
  std::string Read() {
    std::array<char, 16 << 10> buffer;  // NOLINT: filled by SSL_read.
    while (alive_) {
      const int got = SSL_read(ssl_.get(), buffer.data(), static_cast<int>(buffer.size()));
      if (got <= 0) {
        alive_ = SSL_get_error(ssl_.get(), got) == SSL_ERROR_WANT_READ;
        break;
      }
      input_.append(buffer.data(), static_cast<size_t>(got));
    }
    return http2_ ? TakeHttp2() : TakeHttp1();
  }

  void WriteEvent(const std::string& event, std::string& out) {
    out.clear();
    for (const uint32_t stream : streams_) {
      if (http2_) {
        out += FrameHead(event.size(), 0, 0, stream);
        out += event;
      } else {
        fmt::format_to(std::back_inserter(out), "{:x}\r\n", event.size());
        out += event;
        out += "\r\n";
      }
      if (out.size() < kTogether) continue;
      Write(out);
      out.clear();
    }
    if (!out.empty()) Write(out);
  }

 private:
  /// A client that takes no more is waited for.
  void Write(std::string_view bytes) {
    while (!bytes.empty() && alive_) {
      size_t written = 0;
      const int result = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &written);
      if (result == 1) {
        bytes.remove_prefix(written);
      } else if (SSL_get_error(ssl_.get(), result) == SSL_ERROR_WANT_WRITE) {
        pollfd wait{.fd = socket_, .events = POLLOUT, .revents = 0};
        poll(&wait, 1, -1);
      } else {
        alive_ = false;
      }
    }
  }

  std::string TakeHttp1() {
    const size_t end = input_.find("\r\n\r\n");
    if (end == std::string::npos) return {};
    std::string head = input_.substr(0, end);
    std::transform(head.begin(), head.end(), head.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    size_t length = 0;
    if (const size_t at = head.find("content-length: "); at != std::string::npos) {
      length = std::strtoul(head.c_str() + at + 16, nullptr, 10);
    }
    if (input_.size() < end + 4 + length) return {};
    std::string body = input_.substr(end + 4, length);
    input_.erase(0, end + 4 + length);
    if (head.find("watch=1") != std::string::npos) {
      streams_.push_back(0);
      Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      return {};
    }
    constexpr std::string_view kAnswer = R"({"metadata":{"resourceVersion":"1"}})";
    Write(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", kAnswer.size(), kAnswer));
    return head.starts_with("put ") ? body : "";
  }

  std::string TakeHttp2() {
    std::string answer;
    if (!greeted_) {
      constexpr size_t kMagic = 24;
      if (input_.size() < kMagic) return {};
      input_.erase(0, kMagic);
      greeted_ = true;
      answer = FrameHead(0, 4, 0, 0) + FrameHead(0, 4, 1, 0);
    }
    size_t at = 0;
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(input_[at + i]); };
    while (input_.size() - at >= kFrameHead) {
      const size_t size = size_t{byte(0)} << 16 | size_t{byte(1)} << 8 | byte(2);
      if (input_.size() - at < kFrameHead + size) break;
      if (byte(3) == 1) {
        streams_.push_back(uint32_t{byte(7)} << 8 | byte(8));
        answer += FrameHead(1, 1, 4, streams_.back()) + '\x88';
      }
      at += kFrameHead + size;
    }
    input_.erase(0, at);
    Write(answer);
    return {};
  }

  const int socket_;
  http::SslPtr ssl_;
  bool alive_ = false;
  bool http2_ = false;
  bool greeted_ = false;
  std::string input_;
  std::vector<uint32_t> streams_;  // One 0 on HTTP/1.1.
};

class Loop {
 public:
  Loop(uint16_t port, size_t bytes, SSL_CTX* context) : bytes_(bytes), context_(context) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener_, 1024) != 0) {
      std::perror("bare_watch");
      std::exit(1);
    }
    Poll(listener_, nullptr);
  }

  [[noreturn]] void Run() {
    std::array<epoll_event, 256> ready;  // NOLINT: filled by epoll_wait.
    for (;;) {
      const int count = epoll_wait(poll_, ready.data(), static_cast<int>(ready.size()), -1);
      for (int i = 0; i < count; ++i) {
        auto* client = static_cast<Client*>(ready[static_cast<size_t>(i)].data.ptr);
        if (client == nullptr) {
          Accept();
          continue;
        }
        Serve(client);
      }
    }
  }

 private:
  void Poll(int descriptor, Client* client) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = client;
    epoll_ctl(poll_, EPOLL_CTL_ADD, descriptor, &event);
  }

  void Accept() {
    const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    clients_.push_back(std::make_unique<Client>(socket, context_));
    Poll(socket, clients_.back().get());
    Serve(clients_.back().get());  // The first request may have come with the handshake.
  }

  void Serve(Client* client) {
    const std::string put = client->Read();
    if (!put.empty()) Tell(put);
    if (client->alive()) return;
    std::erase_if(clients_, [client](const auto& each) { return each.get() == client; });
  }

  /// The event is as long as Berth's and holds when the PUT was sent.
  void Tell(const std::string& put) {
    const size_t begin = put.find(kSent) + kSent.size();
    std::string event =
        fmt::format("{{{}{}\",\"pad\":\"", kSent, put.substr(begin, put.find('"', begin) - begin));
    event.resize(std::max(bytes_, event.size() + 3) - 3, 'x');
    event += "\"}\n";
    for (const auto& client : clients_) {
      if (client->watches()) client->WriteEvent(event, out_);
    }
  }

  const size_t bytes_;
  SSL_CTX* const context_;
  const int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int poll_ = epoll_create1(EPOLL_CLOEXEC);
  std::vector<std::unique_ptr<Client>> clients_;
  std::string out_;
};

}  // namespace
}  // namespace berth::bench

int main(int argc, char** argv) {
  namespace http = berth::http;
  using berth::bench::OrDie;
  if (argc != 4) {
    std::fputs("usage: bare_watch PORT BYTES CA_FILE\n", stderr);
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  const berth::base::SystemClock clock;
  const auto authority = OrDie(http::MakeAuthority("bench", {.from = clock.Now()}));
  const auto serving = OrDie(http::MakeServing(
      authority, {.common_name = "bench", .ips = {"127.0.0.1"}}, {.from = clock.Now()}));
  std::ofstream(argv[3]) << authority.certificate_pem;
  const auto context = OrDie(http::TlsContext::Make(
      {.certificate_pem = serving.certificate_pem, .key_pem = serving.key_pem}));
  berth::bench::Loop loop(static_cast<uint16_t>(std::atoi(argv[1])),
                          std::strtoul(argv[2], nullptr, 10), context->get());
  std::puts("ready");
  std::fflush(stdout);
  loop.Run();
}
