// How a connection and its requests carry an identity. Pure functions.
#pragma once

#include "http/client.h"
#include "http/headers.h"
#include "kube/access.h"
#include "kube/credentials.h"

namespace berth::kube {

/// Returns how to connect with this identity: with its client certificate and its token. The time
/// limit of a request is also the longest silence of the server. Answers are not compressed.
http::ClientOptions ClientOptionsOf(const Access& access, const Identity& identity);

/// Returns the headers of every request: those of the access, and user and password if the identity
/// has them.
http::Headers HeadersOf(const Access& access, const Identity& identity);

}  // namespace berth::kube
