// Makes and reads certificates: a self-signed authority, and serving and client certificates signed
// by it (ECDSA P-256, PEM). Key material comes from OpenSSL's generator. The caller passes the
// time. The functions are pure apart from that and may be called from any thread.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace berth::http {

struct KeyPair {
  std::string certificate_pem;
  std::string key_pem;
};

struct Validity {
  base::WallTime from;  // Certificates begin five minutes earlier, for clocks that are slow.
  std::chrono::seconds length = std::chrono::hours(24 * 365);
};

/// Makes a self-signed authority.
base::Result<KeyPair> MakeAuthority(const std::string& common_name, Validity validity);

struct ServingNames {
  std::string common_name = {};
  std::vector<std::string> dns = {};
  std::vector<std::string> ips = {};  // "10.96.0.1", "::1"
};

/// Makes a certificate for a server with these names.
base::Result<KeyPair> MakeServing(const KeyPair& authority, const ServingNames& names,
                                  Validity validity);

/// Makes a certificate for a client. The common name is the user, the organizations are its groups.
base::Result<KeyPair> MakeClient(const KeyPair& authority, const std::string& common_name,
                                 const std::vector<std::string>& organizations, Validity validity);

struct CertificateInfo {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> dns;
  std::vector<std::string> ips;
  base::WallTime not_before;
  base::WallTime not_after;
  bool is_authority = false;
};

/// Reads the first certificate of a PEM text.
base::Result<CertificateInfo> ReadCertificate(const std::string& pem);

/// Returns whether the first certificate of `pem` is valid at `now` and for `margin` longer.
base::Result<bool> StillValid(const std::string& pem, base::WallTime now,
                              std::chrono::seconds margin);

}  // namespace berth::http
