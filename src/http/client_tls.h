// The client's side of TLS: which servers it trusts, and its own certificate. Internal to the
// module.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "http/client.h"
#include "http/openssl.h"

namespace berth::http {

/// Returns a context for connections with these settings. Reading the authorities of the system
/// takes milliseconds, so a client keeps its context.
base::Result<SslCtxPtr> MakeClientContext(const ClientTls& tls);

/// Returns an object for one connection to a server whose certificate must be for `name`, a host
/// name or an address.
SslPtr MakeClientSsl(SSL_CTX* context, const std::string& name);

/// Returns why the certificate of a server was not accepted as that of `name`. If it is for other
/// names, the text has these names and then the advice, which may be empty.
std::string WhyNotTrusted(SSL* ssl, std::string_view name, std::string_view advice);

}  // namespace berth::http
