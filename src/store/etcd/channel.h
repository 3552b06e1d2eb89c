// Endpoints as people write them, and the gRPC channels that lead there.
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
  std::string text;  // "https://[::1]:2379": for messages.

  /// "host:port", with brackets where they are needed.
  std::string Authority() const;
};

/// "http://host:port" or "https://host:port"; port 2379 when there is none. kInvalid with what is
/// wrong otherwise.
base::Result<EndpointUrl> ParseEndpoint(std::string_view text);

struct ChannelSettings {
  std::chrono::milliseconds connect_timeout{0};
  std::chrono::seconds keepalive{0};
};

/// A channel with a connection of its own, even beside others to the same endpoint. It repeats
/// nothing by itself and uses no proxy.
std::shared_ptr<grpc::Channel> MakeChannel(
    const EndpointUrl& url, const std::shared_ptr<grpc::ChannelCredentials>& credentials,
    const ChannelSettings& settings);

/// Of a call that was never given a connection, the "peer" that gRPC reports is nothing but the
/// channel's target. (It may be so of others, too: a cancelled call has its peer taken away.)
bool IsTarget(std::string_view peer);

/// gRPC writes failed handshakes to standard error, whole lines per attempt. What matters of them
/// is in the client's own errors, so all of gRPC's logging ends here, for the whole process.
void SilenceGrpcLog();

/// Text of a server, fit for a message: visible characters only, and not endless.
std::string Bounded(std::string_view text);

}  // namespace berth::store::etcd::wire
