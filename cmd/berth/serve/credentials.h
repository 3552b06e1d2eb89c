// What `berth serve` needs to be believed: an authority, a serving certificate with the right
// names, an admin's credential and the kubeconfig that holds it. Made at the first start, in the
// data directory, readable by its owner alone; kept afterwards, but that the serving certificate is
// made anew when its names or its time no longer do.
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
  std::string address;  // What clients connect to: "127.0.0.1".
  uint16_t port = 6443;
  std::vector<std::string> more_ips = {};  // Further addresses the server answers to.
  std::string tls_cert_file = {};          // The user's own serving certificate, if there is one.
  std::string tls_private_key_file = {};
  std::string client_ca_file = {};  // Accepted beside the authority of our own.
};

/// "https://127.0.0.1:6443", "https://[::1]:6443"
std::string ServerUrl(const CredentialRequest& request);

struct Credentials {
  http::TlsSettings tls;
  std::string kubeconfig;  // Its path.
};

base::Result<Credentials> PrepareCredentials(const CredentialRequest& request,
                                             const base::Clock& clock, base::Logger& log);

}  // namespace berth::cli
