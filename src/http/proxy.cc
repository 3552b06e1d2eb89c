#include "http/proxy.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "base/ascii.h"
#include "base/base64.h"

namespace berth::http {
namespace {

using base::Fail;
using base::Reason;
using base::Result;

constexpr size_t kAnswerLimit = size_t{16} << 10;

/// Decodes %XX. Other characters stay as they are.
std::string Unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && base::HexDigit(text[i + 1]) >= 0 &&
        base::HexDigit(text[i + 2]) >= 0) {
      out += static_cast<char>(base::HexDigit(text[i + 1]) * 16 + base::HexDigit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

ProxyKind KindOf(std::string_view scheme) {
  if (scheme == "http") return ProxyKind::kHttp;
  if (scheme == "https") return ProxyKind::kHttps;
  return scheme == "socks5" || scheme == "socks5h" ? ProxyKind::kSocks5 : ProxyKind::kNone;
}

uint16_t DefaultPort(ProxyKind kind) {
  if (kind == ProxyKind::kSocks5) return 1080;
  return kind == ProxyKind::kHttps ? 443 : 80;
}

/// Reads "host", "host:port" or "[address]:port".
bool ReadHostAndPort(std::string_view text, Proxy& proxy) {
  std::string_view port;
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return false;
    proxy.host = text.substr(1, end - 1);
    port = text.substr(end + 1);
  } else {
    const size_t colon = text.find(':');
    proxy.host = text.substr(0, colon);
    if (colon != std::string_view::npos) port = text.substr(colon);
  }
  if (proxy.host.empty()) return false;
  if (port.empty()) return true;
  if (port.front() != ':') return false;
  port.remove_prefix(1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), proxy.port);
  return error == std::errc() && end == port.data() + port.size() && proxy.port != 0;
}

/// Returns the code of "HTTP/1.1 200 Connection established".
std::optional<int> CodeOf(std::string_view answer) {
  constexpr std::string_view kStart = "HTTP/1.";
  constexpr size_t kCodeAt = kStart.size() + 2;
  if (!answer.starts_with(kStart) || answer.size() < kCodeAt + 3) return std::nullopt;
  int code = 0;
  const char* at = answer.data() + kCodeAt;
  const auto [end, error] = std::from_chars(at, at + 3, code);
  if (error != std::errc() || end != at + 3) return std::nullopt;
  return code;
}

}  // namespace

std::string HostAndPort(const std::string& host, uint16_t port) {
  const bool v6 = host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", port);
}

std::string Proxy::Where() const { return HostAndPort(host, port); }

Result<Proxy> ParseProxyUrl(std::string_view url) {
  if (url.empty()) return Proxy{};
  const size_t colon = url.find("://");
  Proxy proxy{.kind = colon == std::string_view::npos ? ProxyKind::kNone
                                                      : KindOf(url.substr(0, colon))};
  if (proxy.kind == ProxyKind::kNone) {
    return Fail(Reason::kInvalid,
                "the URL of the proxy does not begin with http://, https:// or socks5://");
  }
  proxy.port = DefaultPort(proxy.kind);
  std::string_view rest = url.substr(colon + 3);
  rest = rest.substr(0, rest.find_first_of("/?#"));
  if (const size_t at = rest.rfind('@'); at != std::string_view::npos) {
    const std::string_view who = rest.substr(0, at);
    const size_t split = who.find(':');
    proxy.user = Unescaped(who.substr(0, split));
    if (split != std::string_view::npos) proxy.password = Unescaped(who.substr(split + 1));
    rest.remove_prefix(at + 1);
  }
  if (!ReadHostAndPort(rest, proxy)) {
    return Fail(Reason::kInvalid,
                fmt::format("the URL of the proxy has no valid host and port: {}", rest));
  }
  return proxy;
}

std::string ProxyAuthorization(const Proxy& proxy) {
  if (proxy.user.empty() && proxy.password.empty()) return {};
  return fmt::format("Proxy-Authorization: Basic {}\r\n",
                     base::Base64(proxy.user + ":" + proxy.password));
}

Result<void> ConnectThroughHttp(ByteStream& stream, const Proxy& proxy, const std::string& host,
                                uint16_t port) {
  const std::string where = HostAndPort(host, port);
  if (auto sent = stream.Write(fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n{1}\r\n", where,
                                           ProxyAuthorization(proxy)));
      !sent) {
    return sent;
  }
  // The server's own bytes follow the empty line, so nothing after it may be read here.
  std::string answer;
  while (!answer.ends_with("\r\n\r\n")) {
    if (answer.size() == kAnswerLimit) break;
    const auto next = stream.ReadExactly(1);
    if (!next) return tl::unexpected(next.error());
    answer += *next;
  }
  const std::optional<int> code = CodeOf(answer);
  if (code && *code / 100 == 2) return {};
  const std::string line = answer.substr(0, answer.find('\r'));
  return Fail(Reason::kServiceUnavailable,
              code ? fmt::format("the proxy {} refuses to connect to {}: {}", proxy.Where(), where,
                                 line.substr(line.find(' ') + 1))
                   : fmt::format("the proxy {} does not speak HTTP", proxy.Where()));
}

}  // namespace berth::http
