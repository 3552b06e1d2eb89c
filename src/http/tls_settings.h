// The certificates of a server, as PEM text that the caller provides.
#pragma once

#include <string>

namespace berth::http {

struct TlsSettings {
  std::string certificate_pem;  // The server's certificate, then any intermediates.
  std::string key_pem;
  /// Authorities that client certificates are verified against. If empty, the server asks for no
  /// client certificate.
  std::string client_ca_pem = {};
};

}  // namespace berth::http
