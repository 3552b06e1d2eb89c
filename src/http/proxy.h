// How a client reaches a server through a proxy. Internal to the module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::http {

enum class ProxyKind { kNone, kHttp, kHttps, kSocks5 };

struct Proxy {
  ProxyKind kind = ProxyKind::kNone;
  std::string host = {};
  uint16_t port = 0;
  std::string user = {};
  std::string password = {};

  /// Returns "host:port", for messages. It has no password.
  std::string Where() const;
};

/// Reads "http://user:password@host:3128" and the same with https, socks5 and socks5h. An empty
/// text means no proxy. Names are always sent to a SOCKS proxy, which resolves them, for socks5 as
/// for socks5h. Errors are kInvalid and do not show the password.
base::Result<Proxy> ParseProxyUrl(std::string_view url);

/// Returns the line "Proxy-Authorization: ..." with its end, or "" if the proxy needs no password.
std::string ProxyAuthorization(const Proxy& proxy);

/// Returns "host:port" as in a request, with brackets around an IPv6 address.
std::string HostAndPort(const std::string& host, uint16_t port);

/// The bytes of a connection to a proxy.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  virtual base::Result<void> Write(std::string_view bytes) = 0;
  /// Reads exactly as many bytes. Fails if the connection ends before.
  virtual base::Result<std::string> ReadExactly(size_t size) = 0;
};

/// Asks an HTTP proxy to connect to a server. The stream is then a connection to that server.
base::Result<void> ConnectThroughHttp(ByteStream& stream, const Proxy& proxy,
                                      const std::string& host, uint16_t port);

}  // namespace berth::http
