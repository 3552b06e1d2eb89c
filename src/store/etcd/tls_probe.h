// Determines why an endpoint cannot be reached, by connecting to it the way a client would. gRPC
// itself says no more than that a handshake failed.
//
// Threads: may be called from any thread; waits for the network.
#pragma once

#include <chrono>
#include <string>

#include "base/clock.h"
#include "store/etcd/channel.h"
#include "store/etcd/tls_check.h"

namespace berth::store::etcd::wire {

struct Finding {
  /// "nothing listens there (connection refused)"; empty if nothing is wrong.
  std::string text;
  bool hopeless = false;  // Waiting does not help: a person must change something.
};

Finding WhyUnreachable(const EndpointUrl& url, const TlsFiles& files,
                       std::chrono::milliseconds limit, base::WallTime now);

}  // namespace berth::store::etcd::wire
