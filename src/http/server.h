// An HTTP/1.1 and HTTP/2 server over TLS. It knows requests, answers and long streams, but not what
// they mean.
//
//   http::Server server(options, [](http::Request request, http::Responder respond) {
//     respond.Finish({.headers = {{"content-type", "text/plain"}}, .body = "hello\n"});
//   }, log, clock);
//   auto started = server.Start();
//
// Threads: a connection stays on one io thread for its whole life. One acceptor gives each new
// connection to the io thread with the fewest. The handler is called on the connection's thread and
// must neither block nor throw. It may answer at once, or later from any thread. Start, Drain and
// Stop are called by one thread that is not an io thread. The other functions may be called from
// any thread. Destroying the server stops it. Answers after that are lost.
//
// Promises: a request reaches the handler whole or not at all. What a client sends, leaves
// incomplete or does not read costs at most what Limits allows. SIGPIPE is ignored from Start on.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "http/limits.h"
#include "http/message.h"
#include "http/responder.h"
#include "http/tls_settings.h"

namespace berth::http {

using Handler = std::function<void(Request, Responder)>;

/// Makes the answer to a request that never reached the handler, from a code and a sentence.
using ErrorAnswer = std::function<Response(int code, std::string_view text)>;

struct ServerOptions {
  std::vector<std::string> addresses = {"127.0.0.1"};  // "0.0.0.0", "::", "::1", ...
  uint16_t port = 0;                    // 0 means any free port, the same for all addresses.
  size_t io_threads = 0;                // 0 means one per core.
  std::optional<TlsSettings> tls = {};  // If unset, the server speaks plain HTTP/1.1 only.
  Limits limits = {};
  ErrorAnswer on_error = {};  // If unset, answers are plain text. Called on io threads.
};

/// Figures since the start, except those whose names end with "now".
struct Stats {
  uint64_t connections_now = 0;
  uint64_t connections = 0;
  uint64_t connections_refused = 0;  // Beyond a limit.
  uint64_t handshakes_failed = 0;
  uint64_t requests_http1 = 0;
  uint64_t requests_http2 = 0;
  uint64_t requests_bad = 0;  // Answered by on_error.
  uint64_t streams_now = 0;   // Answers from a Source.
  uint64_t streams = 0;
  uint64_t bytes_read = 0;     // As HTTP, before TLS.
  uint64_t bytes_written = 0;  // As HTTP, before TLS.
  uint64_t timeouts = 0;       // Clients closed for being slow, without idle ones.
  uint64_t h2_abuses = 0;      // Connections closed by H2Limits.
};

class Server {
 public:
  /// `log` and `clock` must outlive the server.
  Server(ServerOptions options, Handler handler, base::Logger& log, const base::Clock& clock);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Listens and serves. Fails with an error that an operator can act on, such as an address in use
  /// or a bad certificate.
  base::Result<void> Start();

  /// Returns the port that the server listens on. Valid after Start.
  uint16_t port() const;

  /// Replaces the certificates for new connections. Existing connections keep theirs. If it fails,
  /// nothing changes.
  base::Result<void> ReloadTls(const TlsSettings& settings);

  /// Takes no more connections, closes idle ones, lets requests under way and their answers finish,
  /// and asks streams to end. Returns true once all connections are closed, or false at the limit.
  bool Drain(std::chrono::nanoseconds limit);

  /// Ends everything at once. May be called again.
  void Stop();

  Stats stats() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace berth::http
