// The connection of a client: a socket to a server or to its proxy, with TLS if the server has it.
// Waits end at time limits and when the client is told to stop. Internal to the module. Not
// thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/client.h"
#include "http/listener.h"
#include "http/openssl.h"
#include "http/proxy.h"
#include "http/transport.h"

namespace berth::http {

class ClientSocket final : public ByteStream {
 public:
  /// Keeps a reference to the options.
  explicit ClientSocket(const ClientOptions& options) : options_(options) {}

  /// Sets the limits of the next request: for each silence of the server, and for all together.
  void SetLimits(std::chrono::nanoseconds silence, std::chrono::nanoseconds total);

  bool IsOpen() const { return transport_ != nullptr; }
  base::Result<void> Open();
  void Close();

  base::Result<void> Write(std::string_view bytes) override;
  /// Appends bytes to `to`. Returns how many there were, or 0 at the end of the connection.
  base::Result<size_t> Read(std::string& to);
  base::Result<std::string> ReadExactly(size_t size) override;

  /// Returns whether requests must have an absolute URL, because a proxy forwards them.
  bool IsForwarded() const;
  const Proxy& proxy() const { return proxy_; }
  /// Returns the server, for messages.
  std::string Where() const { return HostAndPort(options_.host, options_.port); }

 private:
  base::Result<void> OpenTunnel();
  base::Result<void> ConnectTo(const std::string& host, uint16_t port);
  base::Result<void> StartTls(SSL_CTX* context, const std::string& name, const std::string& where,
                              std::string_view name_advice);
  base::Result<size_t> ReadSome(char* to, size_t size);
  base::Result<void> Wait(Transport::Status status, std::chrono::nanoseconds limit);
  /// Fails if the time is over or the client was told to stop.
  base::Result<void> CheckLimits() const;

  const ClientOptions& options_;
  std::chrono::nanoseconds silence_ = std::chrono::seconds(60);
  std::chrono::nanoseconds total_{0};
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();
  bool proxy_read_ = false;
  Proxy proxy_;
  SslCtxPtr context_;        // For the server.
  SslCtxPtr proxy_context_;  // For a proxy with TLS.
  UniqueFd socket_;
  std::unique_ptr<Transport> transport_;
};

}  // namespace berth::http
