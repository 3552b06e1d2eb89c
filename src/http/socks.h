// SOCKS 5 (RFC 1928) with a user name and password (RFC 1929), as far as a client needs it to
// connect to a server. Internal to the module.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "http/proxy.h"

namespace berth::http {

/// Asks a SOCKS proxy to connect to a server. The stream is then a connection to that server.
base::Result<void> ConnectThroughSocks(ByteStream& stream, const Proxy& proxy,
                                       const std::string& host, uint16_t port);

}  // namespace berth::http
