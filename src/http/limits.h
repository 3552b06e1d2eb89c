// The limits on everything that a client can use up. Each limit has a test that reaches it. The
// comment of a limit says what happens there. A code means an answer by ServerOptions::on_error.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace berth::http {

/// Limits on what HTTP/2 makes cheap for a client. Beyond a limit the client gets GOAWAY with
/// ENHANCE_YOUR_CALM. Each rate is a bucket that holds `burst` and is refilled by `per_second`.
struct H2LimitOptions {
  struct Rate {
    double burst = 0;
    double per_second = 0;
  };
  Rate resets = {.burst = 500, .per_second = 50};    // Streams reset, by either side.
  Rate controls = {.burst = 500, .per_second = 50};  // PING, SETTINGS, PRIORITY, empty DATA.
  size_t continuations = 16;                         // CONTINUATION frames of one header block.
  size_t settings_entries = 32;                      // In one SETTINGS frame.
  size_t acks_waiting = 200;                         // PING and SETTINGS not yet answered.
};

struct Limits {
  size_t header_bytes = size_t{128} << 10;       // Names and values. 431
  size_t header_count = 200;                     // 431
  size_t request_line_bytes = size_t{32} << 10;  // 414
  size_t body_bytes = size_t{3} << 20;           // 413
  size_t body_memory = size_t{512} << 20;        // Bodies being read, of all connections. 503
  size_t answer_memory = size_t{512} << 20;      // Bulk answers that clients have not taken. 503
  size_t connections = 10'000;                   // Closed at once.
  size_t connections_per_thread = 10'000;        // Closed at once.
  uint32_t h2_streams = 250;                     // Per connection, announced; REFUSED_STREAM.
  H2LimitOptions h2 = {};

  std::chrono::nanoseconds handshake = std::chrono::seconds(10);    // TLS. Closed.
  std::chrono::nanoseconds header_read = std::chrono::seconds(10);  // First to last byte. 408
  std::chrono::nanoseconds idle = std::chrono::minutes(3);          // Between requests. Closed.
  /// While a body arrives, each span of this length must bring at least body_span_bytes. 408
  std::chrono::nanoseconds body_span = std::chrono::seconds(10);
  size_t body_span_bytes = size_t{4} << 10;
  /// How long a client may take nothing of the output that waits for it. Closed (with HTTP/2 the
  /// stream is reset).
  std::chrono::nanoseconds write_stall = std::chrono::seconds(60);
  std::chrono::nanoseconds stream_stall = std::chrono::minutes(10);  // The same for a Source.
  std::chrono::nanoseconds linger = std::chrono::seconds(2);  // For the client to read the end.
};

}  // namespace berth::http
