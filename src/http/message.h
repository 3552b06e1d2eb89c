// What a handler is given and what it gives back. Values; they refer to nothing of the connection.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/headers.h"
#include "http/pieces.h"

namespace berth::http {

/// Who a verified client certificate says the client is.
struct ClientIdentity {
  std::string common_name = {};
  std::vector<std::string> organizations = {};

  bool operator==(const ClientIdentity&) const = default;
};

struct Peer {
  std::string address = {};  // "127.0.0.1:50312", "[::1]:50312"
  bool tls = false;
  std::optional<ClientIdentity> identity = {};
  /// Why the certificate that the client did present gives it no identity; else empty.
  std::string certificate_error = {};
};

struct Request {
  std::string method = {};
  std::string path = {};   // Undecoded, begins with '/' (or is "*").
  std::string query = {};  // Undecoded, what follows the '?'.
  Headers headers = {};    // HTTP/2's :authority is given as "host".
  std::string body = {};  // Always with room for 64 bytes more, which parsers want behind the text.
  std::shared_ptr<const Peer> peer = {};  // Never null; one for all requests of a connection.
  int protocol = 1;                       // 1 or 2
};

struct Response {
  int code = 200;
  /// Content-Length, Date, Connection and Transfer-Encoding are added by the server; what a handler
  /// says about them is left out.
  Headers headers = {};
  Pieces body = {};
  /// Compress it if the client takes gzip and the body is worth it (over 128 KiB).
  bool compress = false;
  /// Can be made again: when too much waits for clients to take it, they are told to come back.
  bool bulk = false;
};

}  // namespace berth::http
