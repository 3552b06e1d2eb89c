// Why an endpoint cannot be reached, found out by connecting to it the way a client would: gRPC
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
  std::string text;       // "nothing listens there (connection refused)"; empty: nothing is wrong.
  bool hopeless = false;  // Waiting does not help: somebody must change something.
};

Finding WhyUnreachable(const EndpointUrl& url, const TlsFiles& files,
                       std::chrono::milliseconds limit, base::WallTime now);

}  // namespace berth::store::etcd::wire
