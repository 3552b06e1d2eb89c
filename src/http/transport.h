// Sends and receives bytes over a connected, non-blocking socket, plain or with TLS. OpenSSL works
// directly on the socket, so that an idle connection holds no buffers. A Transport says what to
// wait for and leaves the waiting to the caller. It is used by one thread. The caller owns the
// socket, which must stay open as long as the Transport exists.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"
#include "http/openssl.h"
#include "http/tls_settings.h"

namespace berth::http {

/// The certificates and settings of a server, read and checked. Immutable and shared by
/// connections.
class TlsContext {
 public:
  static base::Result<std::shared_ptr<const TlsContext>> Make(const TlsSettings& settings);
  explicit TlsContext(SslCtxPtr ctx) : ctx_(std::move(ctx)) {}
  SSL_CTX* get() const { return ctx_.get(); }

 private:
  SslCtxPtr ctx_;
};

class Transport {
 public:
  enum class Status {
    kOk,
    kWantRead,
    kWantWrite,
    kClosed,  // The peer has closed the connection cleanly.
    kError,
  };
  struct Outcome {
    Status status = Status::kOk;
    size_t bytes = 0;
  };

  /// Makes a plain transport.
  explicit Transport(int socket) : socket_(socket) {}
  /// Makes the server's side of TLS.
  Transport(int socket, const TlsContext& context);
  /// Makes the client's side of TLS from an object that the caller has prepared.
  Transport(int socket, SslPtr ssl);
  /// Makes the client's side of TLS inside another TLS connection, which it then owns.
  Transport(std::unique_ptr<Transport> outer, SslPtr ssl);

  bool is_tls() const { return ssl_ != nullptr; }
  Status Handshake();
  /// Sends an answer if Handshake failed because the client speaks HTTP without TLS, as Go's
  /// servers do. Returns whether it sent one.
  bool AnswerPlainHttp() const;
  /// Returns whether the handshake agreed on HTTP/2.
  bool IsHttp2() const;
  /// Fills in the identity from the client's certificate, if the client presented one. Called after
  /// the handshake.
  void Identify(Peer& peer) const;
  /// Returns why Handshake failed.
  std::string error() const { return error_; }

  Outcome Read(char* to, size_t size);
  /// Writes bytes, perhaps only some of them. The caller must pass the rest again. The rest may be
  /// at another address by then.
  Outcome Write(std::string_view bytes);
  /// Returns whether there are bytes that were read from the socket but not yet returned by Read.
  /// The caller must read those before it waits for more.
  bool HasPending() const { return ssl_ != nullptr && SSL_has_pending(ssl_.get()) != 0; }
  /// Sends the TLS close notification without waiting for an answer.
  void Shutdown();

 private:
  void UseSocket();
  Status StatusOf(int result);

  const int socket_;
  const std::unique_ptr<Transport> outer_;  // Null if bytes go directly to the socket.
  SslPtr ssl_;
  bool established_ = false;
  bool broken_ = false;
  bool met_plain_http_ = false;
  std::string error_;
};

}  // namespace berth::http
