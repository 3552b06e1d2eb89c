#include "kube/login.h"

#include "base/base64.h"

namespace berth::kube {

http::ClientOptions ClientOptionsOf(const Access& access, const Identity& identity) {
  http::ClientOptions options = access.client;
  options.token = identity.token;
  options.gzip = false;  // What is fetched with it is compressed already.
  if (options.tls) {
    options.tls->certificate_pem = identity.certificate_pem;
    options.tls->key_pem = identity.key_pem;
  }
  if (access.request_timeout.count() > 0) options.read_timeout = access.request_timeout;
  return options;
}

http::Headers HeadersOf(const Access& access, const Identity& identity) {
  http::Headers headers;
  for (const auto& [name, value] : access.headers) headers.Add(name, value);
  if (!identity.user.empty() || !identity.password.empty()) {
    headers.Add("Authorization", "Basic " + base::Base64(identity.user + ":" + identity.password));
  }
  return headers;
}

}  // namespace berth::kube
