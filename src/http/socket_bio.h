// A BIO that connects OpenSSL with a socket through send and recv. OpenSSL's own BIO uses write and
// read, which go through the kernel's file layer. That is measurably slower on a connection that
// writes only now and then.
#pragma once

#include "http/openssl.h"

namespace berth::http {

/// Returns a BIO for a connected socket, or null if memory is short. The caller still owns the
/// socket.
BIO* NewSocketBio(int socket);

}  // namespace berth::http
