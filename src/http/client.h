// A small HTTP/1.1 client for the command line and for tests. It has one connection, sends one
// request at a time, and blocks with a time limit. It opens its connection for the first request,
// and again if the server has closed it in between. Bodies are read whole, up to a limit, or passed
// to a callback as they arrive. Not thread-safe. A StopSignal ends a request from another thread,
// except while the name of the host is looked up.
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
#include "http/stop_signal.h"

namespace berth::http {

struct ClientTls {
  std::string ca_pem = {};           // If empty, the authorities of the system are used.
  std::string certificate_pem = {};  // The client certificate, if any.
  std::string key_pem = {};
  std::string server_name = {};  // Verified instead of the host. It may be an address.
  /// What to do about a certificate that is for other names, for the error. May be empty.
  std::string name_advice = {};
  bool verify = true;  // If false, any certificate of the server is accepted.
};

struct ClientOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 0;
  std::optional<ClientTls> tls = {};  // If unset, the client uses plain text.
  std::string token = {};             // Sent as "Authorization: Bearer ..." if not empty.
  std::chrono::nanoseconds connect_timeout = std::chrono::seconds(10);
  /// The longest silence of the server, also within a body.
  std::chrono::nanoseconds read_timeout = std::chrono::seconds(60);
  size_t body_limit = size_t{64} << 20;  // For bodies that are read whole, after inflating.
  /// "http://user:password@host:3128", or the same with https, socks5 or socks5h. If empty, the
  /// client connects to the server directly.
  std::string proxy_url = {};
  bool gzip = false;  // Asks for gzip. Bodies are inflated before the caller sees them.
  /// Ends a Send in another thread when it is raised, and lets every later one fail. May be null.
  std::shared_ptr<const StopSignal> stop = {};
};

struct ClientRequest {
  std::string method = "GET";
  std::string target = "/";  // Path and query.
  Headers headers = {};
  std::string body = {};
  /// The longest time from the connection to the last byte of the answer; 0 means no limit.
  std::chrono::nanoseconds time_limit{0};
  /// The longest silence of the server, if another than that of the options.
  std::optional<std::chrono::nanoseconds> read_timeout = {};
};

struct ClientResponse {
  int code = 0;
  Headers headers;
  std::string body;
};

/// Receives the body of a 2xx answer in parts as they arrive, each with the head. The first part is
/// empty and comes as soon as the head is there. If the sink returns false, the client stops
/// reading and closes the connection. Other answers are read whole.
using BodySink = std::function<bool(const ClientResponse& head, std::string_view part)>;

class Client {
 public:
  explicit Client(ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Sends a request and returns the answer, whatever its code. Errors are about the connection:
  /// kServiceUnavailable, kTimeout, or kInternalError if the server does not speak HTTP.
  base::Result<ClientResponse> Send(const ClientRequest& request, const BodySink& sink = nullptr);

  void Close();

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace berth::http
