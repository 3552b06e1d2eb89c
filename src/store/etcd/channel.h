// Endpoints as people write them, and the gRPC channels to them.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/security/credentials.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::store::etcd::wire {

struct EndpointUrl {
  bool tls = false;
  std::string host;  // A name or an address; IPv6 without brackets.
  uint16_t port = 0;
  std::string text;  // "https://[::1]:2379", for messages.

  /// Returns "host:port", with brackets for IPv6.
  std::string Authority() const;
};

/// Parses "http://host:port" or "https://host:port"; the default port is 2379. Fails with kInvalid
/// and a reason.
base::Result<EndpointUrl> ParseEndpoint(std::string_view text);

struct ChannelSettings {
  std::chrono::milliseconds connect_timeout{0};
  std::chrono::seconds keepalive{0};
};

/// Makes a channel with its own connection, even if there are others to the same endpoint. It
/// repeats nothing by itself and uses no proxy.
std::shared_ptr<grpc::Channel> MakeChannel(
    const EndpointUrl& url, const std::shared_ptr<grpc::ChannelCredentials>& credentials,
    const ChannelSettings& settings);

/// Returns whether the "peer" that gRPC reports for a call is only the channel's target. That is so
/// for a call that never got a connection. (It may also be so for others: a cancelled call loses
/// its peer.)
bool IsTarget(std::string_view peer);

/// Switches off gRPC's logging for the whole process. gRPC writes failed handshakes to standard
/// error, several lines per attempt, and the client's own errors have what matters.
void SilenceGrpcLog();

/// Makes text of a server fit for a message: visible characters only, and of limited length.
std::string Bounded(std::string_view text);

}  // namespace berth::store::etcd::wire
