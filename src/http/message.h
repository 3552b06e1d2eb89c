// The request that a handler gets and the response that it returns. Both are values and refer to
// nothing of the connection.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/headers.h"
#include "http/pieces.h"

namespace berth::http {

/// How many spare bytes follow every body in memory, as parsers need them.
inline constexpr size_t kBodyPadding = 64;

/// The identity of a client according to its verified certificate.
struct ClientIdentity {
  std::string common_name = {};
  std::vector<std::string> organizations = {};

  bool operator==(const ClientIdentity&) const = default;
};

struct Peer {
  std::string address = {};  // "127.0.0.1:50312", "[::1]:50312"
  bool tls = false;
  std::optional<ClientIdentity> identity = {};
  /// Why the client's certificate gives it no identity. Empty if it does, or if the client
  /// presented no certificate.
  std::string certificate_error = {};
};

struct Request {
  std::string method = {};
  std::string path = {};                  // Undecoded, begins with '/' (or is "*").
  std::string query = {};                 // Undecoded, the part after the '?'.
  Headers headers = {};                   // HTTP/2's :authority appears as "host".
  std::string body = {};                  // Always has capacity for kBodyPadding more bytes.
  std::shared_ptr<const Peer> peer = {};  // Never null. All requests of a connection share it.
  int protocol = 1;                       // 1 or 2
};

struct Response {
  int code = 200;
  /// The server adds Content-Length, Date, Connection and Transfer-Encoding, and ignores those that
  /// a handler sets.
  Headers headers = {};
  Pieces body = {};
  /// Whether to compress the body if the client accepts gzip and the body is over 128 KiB.
  bool compress = false;
  /// True if the answer can be made again. If too many bytes of such answers wait for clients, the
  /// client gets 503 instead.
  bool bulk = false;
};

}  // namespace berth::http
