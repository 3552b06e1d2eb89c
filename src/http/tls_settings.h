// Certificates for a server, as PEM text; where it comes from is the caller's business.
#pragma once

#include <string>

namespace berth::http {

struct TlsSettings {
  std::string certificate_pem;  // The server's own, then any intermediates.
  std::string key_pem;
  /// Authorities that client certificates are verified against. Empty: none are asked for.
  std::string client_ca_pem = {};
};

}  // namespace berth::http
