// The certificate files a client is given, checked before they are used, so that what is wrong with
// them is said in words. gRPC says no more than that a handshake failed.
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

/// Names of files and what is in them.
struct TlsFiles {
  std::string ca_file;
  std::string cert_file;
  std::string key_file;
  std::string ca;    // Empty: the system's authorities.
  std::string cert;  // Empty: no certificate of our own.
  std::string key;
};

/// Reads what the options name. Fails when a file cannot be read, is not what it should be, when
/// the key does not belong to the certificate, or when the certificate is not valid at `now`.
base::Result<TlsFiles> ReadTlsFiles(const ClientOptions& options, base::WallTime now);

/// "expired on 2026-11-14 07:56:14 UTC" or "is not valid before ..."; empty: it is valid at `now`.
std::string WhyNotValid(const X509& cert, base::WallTime now);

/// The same of our own certificate, with its file's name; empty also when there is none.
std::string WhyOwnNotValid(const TlsFiles& files, base::WallTime now);

}  // namespace berth::store::etcd::wire
