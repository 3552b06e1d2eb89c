// A BIO that sends and receives through another Transport, for TLS to a server within TLS to a
// proxy. Internal to the module.
#pragma once

#include "http/openssl.h"

namespace berth::http {

class Transport;

/// Returns a BIO, or null if memory is short. The caller still owns the transport.
BIO* NewTunnelBio(Transport* outer);

}  // namespace berth::http
