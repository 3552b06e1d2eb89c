// The credentials of `berth serve`: a certificate authority, a serving certificate with the right
// names, an administrator's certificate and the kubeconfig that contains it. They are created at
// the first start in the data directory, readable by the owner only, and kept. The serving
// certificate is made anew if its names no longer fit; both certificates are renewed before they
// expire.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "http/tls_settings.h"

namespace berth::cli {

struct CredentialRequest {
  std::string data_dir;
  std::string address;  // The address that clients connect to: "127.0.0.1".
  uint16_t port = 6443;
  std::vector<std::string> more_ips = {};  // Further addresses of the server.
  std::string tls_cert_file = {};          // The user's own serving certificate, if any.
  std::string tls_private_key_file = {};
  std::string client_ca_file = {};  // CAs that are accepted besides our own.
};

/// Returns a URL such as "https://127.0.0.1:6443" or "https://[::1]:6443".
std::string ServerUrl(const CredentialRequest& request);

struct Credentials {
  http::TlsSettings tls;
  std::string kubeconfig;  // Path of the kubeconfig.
};

base::Result<Credentials> PrepareCredentials(const CredentialRequest& request,
                                             const base::Clock& clock, base::Logger& log);

}  // namespace berth::cli
