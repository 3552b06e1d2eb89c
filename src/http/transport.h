// Bytes over a connected, non-blocking socket: plain, or TLS by OpenSSL straight on the socket, so
// that an idle connection holds no buffers. Says what to wait for and leaves the waiting to others.
// One thread. The socket is the caller's and must stay open as long as this lives.
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

/// Certificates and settings of a server, read and checked. Immutable, shared by connections.
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
    kClosed,  // By the other side, in good order.
    kError,
  };
  struct Outcome {
    Status status = Status::kOk;
    size_t bytes = 0;
  };

  /// Plain.
  explicit Transport(int socket) : socket_(socket) {}
  /// The server's side of TLS.
  Transport(int socket, const TlsContext& context);
  /// Prepared by the caller: the client's side.
  Transport(int socket, SslPtr ssl);

  bool is_tls() const { return ssl_ != nullptr; }
  Status Handshake();
  /// If it failed because the client speaks HTTP without TLS: tells it, as Go's servers do.
  bool AnswerPlainHttp() const;
  /// Whether the handshake agreed on HTTP/2.
  bool IsHttp2() const;
  /// What the client's certificate says, if it presented one. After the handshake.
  void Identify(Peer& peer) const;
  /// Why Handshake failed.
  std::string error() const { return error_; }

  Outcome Read(char* to, size_t size);
  /// May take only part. What it did not take must come again, perhaps from elsewhere.
  Outcome Write(std::string_view bytes);
  /// Bytes that were read from the socket but not from here: do not wait for more before.
  bool HasPending() const { return ssl_ != nullptr && SSL_has_pending(ssl_.get()) != 0; }
  /// Says goodbye, without waiting for an answer.
  void Shutdown();

 private:
  Status StatusOf(int result);

  const int socket_;
  SslPtr ssl_;
  bool established_ = false;
  bool broken_ = false;
  bool met_plain_http_ = false;
  std::string error_;
};

}  // namespace berth::http
