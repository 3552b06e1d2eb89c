// An HTTP/1.1 and HTTP/2 server over TLS. Knows requests, answers and long streams, and nothing of
// what they mean.
//
//   http::Server server(options, [](http::Request request, http::Responder respond) {
//     respond.Finish({.headers = {{"content-type", "text/plain"}}, .body = "hello\n"});
//   }, log, clock);
//   auto started = server.Start();
//
// Threads: each io thread owns its connections for life; one acceptor deals new ones to the thread
// with the fewest. The handler is called on the connection's thread, must not block and must not
// throw; it may answer at once or later from anywhere. Start, Drain and Stop belong to one thread
// that is none of these; the rest may be called from any. Destroying the server stops it; answers
// given after that are lost.
//
// Promises: a request reaches the handler whole or not at all; what a client sends, leaves half or
// does not read costs at most what Limits say. SIGPIPE is ignored from Start on.
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

/// Makes the answer to what never reached the handler: a code and a sentence about it.
using ErrorAnswer = std::function<Response(int code, std::string_view text)>;

struct ServerOptions {
  std::vector<std::string> addresses = {"127.0.0.1"};  // "0.0.0.0", "::", "::1", ...
  uint16_t port = 0;                                   // 0: any free one, the same for all.
  size_t io_threads = 0;                               // 0: one per core.
  std::optional<TlsSettings> tls = {};                 // Without it: plain text, HTTP/1.1 only.
  Limits limits = {};
  ErrorAnswer on_error = {};  // Plain text when empty. Called on io threads.
};

/// Counted since the start, except where it says "now".
struct Stats {
  uint64_t connections_now = 0;
  uint64_t connections = 0;
  uint64_t connections_refused = 0;  // Over a limit.
  uint64_t handshakes_failed = 0;
  uint64_t requests_http1 = 0;
  uint64_t requests_http2 = 0;
  uint64_t requests_bad = 0;  // Answered by on_error.
  uint64_t streams_now = 0;   // Answers by a Source.
  uint64_t streams = 0;
  uint64_t bytes_read = 0;     // As HTTP, before TLS.
  uint64_t bytes_written = 0;  // As HTTP, before TLS.
  uint64_t timeouts = 0;       // Clients closed for being slow; idle ones do not count.
  uint64_t h2_abuses = 0;      // Connections closed by H2Limits.
};

class Server {
 public:
  /// `log` and `clock` must outlive the server.
  Server(ServerOptions options, Handler handler, base::Logger& log, const base::Clock& clock);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Listens and serves. Fails with what a user can act on: an address in use, a bad certificate.
  base::Result<void> Start();

  /// After Start.
  uint16_t port() const;

  /// New connections get the new certificates; those there are keep theirs. On failure nothing
  /// changes.
  base::Result<void> ReloadTls(const TlsSettings& settings);

  /// Takes no more connections, ends idle ones, lets requests under way and their answers finish
  /// and tells streams to end. Returns when all are gone or `limit` is over: true if all are gone.
  bool Drain(std::chrono::nanoseconds limit);

  /// Ends everything at once. May be called again.
  void Stop();

  Stats stats() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace berth::http
