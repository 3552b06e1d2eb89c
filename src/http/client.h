// A small HTTP/1.1 client for the command line and for tests: one connection, one request at a
// time, blocking with a time limit. Opens its connection at the first request and again whenever
// the server has closed it in between. Not thread-safe. Bodies are read whole, up to a limit, or
// handed to a callback as they come.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/headers.h"

namespace berth::http {

struct ClientTls {
  std::string ca_pem = {};           // Empty: the system's authorities.
  std::string certificate_pem = {};  // A client certificate, if there is one.
  std::string key_pem = {};
  std::string server_name = {};  // To verify instead of the host; it may be an address.
};

struct ClientOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 0;
  std::optional<ClientTls> tls = {};  // Without it: plain text.
  std::string token = {};             // Sent as "Authorization: Bearer ..." when not empty.
  std::chrono::nanoseconds connect_timeout = std::chrono::seconds(10);
  /// Longest silence of the server, within a body too.
  std::chrono::nanoseconds read_timeout = std::chrono::seconds(60);
  size_t body_limit = size_t{64} << 20;  // For bodies read whole.
};

struct ClientRequest {
  std::string method = "GET";
  std::string target = "/";  // Path and query.
  Headers headers = {};
  std::string body = {};
};

struct ClientResponse {
  int code = 0;
  Headers headers;
  std::string body;
};

/// Gets the body of a 2xx answer as it comes, and the head with each part; false ends the reading
/// (and the connection). Other answers are read whole.
using BodySink = std::function<bool(const ClientResponse& head, std::string_view part)>;

class Client {
 public:
  explicit Client(ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Errors are about the connection: kServiceUnavailable, kTimeout, or kInternalError when the
  /// server does not speak HTTP. Any answer of the server is a success here.
  base::Result<ClientResponse> Send(const ClientRequest& request, const BodySink& sink = nullptr);

  void Close();

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace berth::http
