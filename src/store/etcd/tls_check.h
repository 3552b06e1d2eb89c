// Checks the certificate files of a client before they are used, so that the errors say what is
// wrong. gRPC says no more than that a handshake failed.
//
// Threads: every function may be called from any thread.
#pragma once

#include <openssl/types.h>

#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace berth::store::etcd {
struct ClientOptions;
}

namespace berth::store::etcd::wire {

/// Names of files and their contents.
struct TlsFiles {
  std::string ca_file;
  std::string cert_file;
  std::string key_file;
  std::string ca;    // Empty means the system's authorities.
  std::string cert;  // Empty means that the client has no certificate.
  std::string key;
};

/// Reads the files that the options name. Fails if a file cannot be read or has the wrong kind of
/// contents, if the key does not belong to the certificate, or if the certificate is not valid at
/// `now`.
base::Result<TlsFiles> ReadTlsFiles(const ClientOptions& options, base::WallTime now);

/// Returns "expired on 2026-11-14 07:56:14 UTC" or "is not valid before ...", or an empty text if
/// the certificate is valid at `now`.
std::string WhyNotValid(const X509& cert, base::WallTime now);

/// Does the same for the client's own certificate and adds its file name. Returns an empty text if
/// the client has no certificate.
std::string WhyOwnNotValid(const TlsFiles& files, base::WallTime now);

}  // namespace berth::store::etcd::wire
