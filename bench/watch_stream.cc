#include "watch_stream.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>

namespace berth::bench {
namespace {

constexpr std::string_view kSent = "\"sent\":\"";
constexpr size_t kFrameHead = 9;

[[noreturn]] void Die(std::string_view why) {
  fmt::print(stderr, "watch_load: {}\n", why);
  std::exit(1);
}

int Connect(uint16_t port) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) Die("no socket is left");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    Die("cannot connect");
  }
  const int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return descriptor;
}

std::string Frame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload) {
  std::string frame;
  const auto add = [&frame](uint32_t number, int bytes) {
    for (int i = bytes - 1; i >= 0; --i) frame += static_cast<char>(number >> 8 * i);
  };
  add(static_cast<uint32_t>(payload.size()), 3);
  add(type, 1);
  add(flags, 1);
  add(stream, 4);
  return frame.append(payload);
}

/// Encodes an HPACK header field that is in no table.
std::string Literal(std::string_view name, std::string_view value) {
  std::string out(1, '\0');
  for (const std::string_view text : {name, value}) {
    if (text.size() > 126) Die("a header is too long");
    out += static_cast<char>(text.size());
    out += text;
  }
  return out;
}

uint32_t Number(std::string_view bytes) {
  uint32_t number = 0;
  for (const char c : bytes) number = number << 8 | static_cast<uint8_t>(c);
  return number;
}

}  // namespace

void SentFinder::Feed(std::string_view bytes, const OnEvent& on_event) {
  rest_ += bytes;
  size_t begin = 0;
  for (size_t end = 0; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string_view event = std::string_view(rest_).substr(begin, end - begin);
    const size_t at = event.find(kSent);
    if (at == std::string_view::npos) continue;
    int64_t sent = 0;
    std::from_chars(event.data() + at + kSent.size(), event.data() + event.size(), sent);
    on_event(sent);
  }
  rest_.erase(0, begin);
}

WatchConnection::WatchConnection(SSL_CTX* context, uint16_t port, int protocol,
                                 const std::string& token, const std::vector<std::string>& paths)
    : descriptor_(Connect(port)),
      ssl_(SSL_new(context)),
      protocol_(protocol),
      finders_(paths.size()) {
  SSL_set_fd(ssl_, descriptor_);
  const std::string alpn = protocol == 2 ? "\x02h2" : "\x08http/1.1";
  SSL_set_alpn_protos(ssl_, reinterpret_cast<const unsigned char*>(alpn.data()),
                      static_cast<unsigned>(alpn.size()));
  if (SSL_connect(ssl_) != 1) Die("the handshake failed");
  if (protocol == 2) {
    AskHttp2(token, paths);
  } else {
    AskHttp1(token, paths.at(0));
  }
  fcntl(descriptor_, F_SETFL, O_NONBLOCK);
}

WatchConnection::~WatchConnection() {
  SSL_free(ssl_);
  close(descriptor_);
}

void WatchConnection::Send(std::string_view bytes) {
  if (SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())) <= 0) Die("cannot send");
}

void WatchConnection::AskHttp1(const std::string& token, const std::string& path) {
  Send(
      fmt::format("GET {} HTTP/1.1\r\nHost: bench\r\nAccept: application/json\r\n"
                  "Authorization: Bearer {}\r\n\r\n",
                  path, token));
}

void WatchConnection::AskHttp2(const std::string& token, const std::vector<std::string>& paths) {
  // The windows are so large that they need no updates, and there is no dynamic table.
  std::string out = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  out += Frame(4, 0, 0, std::string_view("\0\1\0\0\0\0\0\4\x7f\xff\xff\xff", 12));
  out += Frame(8, 0, 0, std::string_view("\x7f\xff\x00\x00", 4));
  uint32_t stream = 1;
  for (const std::string& path : paths) {
    const std::string headers = Literal(":method", "GET") + Literal(":scheme", "https") +
                                Literal(":authority", "bench") + Literal(":path", path) +
                                Literal("accept", "application/json") +
                                Literal("authorization", "Bearer " + token);
    out += Frame(1, 0x05, stream, headers);
    stream += 2;
  }
  Send(out);
}

bool WatchConnection::Read(const OnEvent& on_event) {
  std::array<char, 16 << 10> buffer;  // NOLINT: filled by SSL_read.
  while (true) {
    const int got = SSL_read(ssl_, buffer.data(), static_cast<int>(buffer.size()));
    if (got <= 0) {
      const int error = SSL_get_error(ssl_, got);
      return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
    }
    input_.append(buffer.data(), static_cast<size_t>(got));
    if (protocol_ == 2) {
      TakeHttp2(on_event);
    } else {
      TakeHttp1(on_event);
    }
  }
}

void WatchConnection::TakeHttp1(const OnEvent& on_event) {
  if (!head_read_) {
    const size_t end = input_.find("\r\n\r\n");
    if (end == std::string::npos) return;
    if (!input_.starts_with("HTTP/1.1 200")) Die(input_.substr(0, 400));
    input_.erase(0, end + 4);
    head_read_ = true;
    answered_ = 1;
  }
  while (true) {
    const size_t line = input_.find("\r\n");
    if (line == std::string::npos) return;
    size_t size = 0;
    std::from_chars(input_.data(), input_.data() + line, size, 16);
    if (input_.size() < line + 2 + size + 2) return;
    bytes_ += size;
    finders_[0].Feed(std::string_view(input_).substr(line + 2, size), on_event);
    input_.erase(0, line + 2 + size + 2);
  }
}

void WatchConnection::TakeHttp2(const OnEvent& on_event) {
  size_t at = 0;
  while (input_.size() - at >= kFrameHead) {
    const std::string_view head = std::string_view(input_).substr(at, kFrameHead);
    const size_t size = Number(head.substr(0, 3));
    if (input_.size() - at < kFrameHead + size) break;
    TakeFrame(static_cast<uint8_t>(head[3]), static_cast<uint8_t>(head[4]), Number(head.substr(5)),
              std::string_view(input_).substr(at + kFrameHead, size), on_event);
    at += kFrameHead + size;
  }
  input_.erase(0, at);
}

void WatchConnection::TakeFrame(uint8_t type, uint8_t flags, uint32_t stream,
                                std::string_view payload, const OnEvent& on_event) {
  constexpr uint8_t kAck = 1;
  // Header blocks may begin with updates of the dynamic table's size.
  constexpr char kStatus200 = '\x88';  // The static table's ":status: 200".
  switch (type) {
    case 0:
      bytes_ += payload.size();
      return finders_.at((stream - 1) / 2).Feed(payload, on_event);
    case 1:
      while (!payload.empty() && (payload.front() & 0xe0) == 0x20) payload.remove_prefix(1);
      if (payload.empty() || payload.front() != kStatus200) Die("a watch was not answered 200");
      ++answered_;
      return;
    case 4:
      if ((flags & kAck) == 0) Send(Frame(4, kAck, 0, ""));
      return;
    case 6:
      if ((flags & kAck) == 0) Send(Frame(6, kAck, 0, payload));
      return;
    case 3:
    case 7:
      Die("the server ended a watch");
    default:
      return;
  }
}

}  // namespace berth::bench
