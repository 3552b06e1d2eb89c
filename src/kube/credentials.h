// Tells the server who the client is. A token or a certificate may be fixed, may stand in a file
// that another program rewrites, or may come from a credential plugin and expire.
//
// Threads: any. Watches of several kinds share the credentials of one user.
#pragma once

#include <string>

#include "base/result.h"

namespace berth::kube {

/// What one request or one connection carries.
struct Identity {
  std::string token = {};  ///< Sent as a bearer token if not empty.
  std::string user = {};   ///< With `password`, sent as basic authentication.
  std::string password = {};
  std::string certificate_pem = {};  ///< The client certificate, if any.
  std::string key_pem = {};

  bool operator==(const Identity&) const = default;
};

class Credentials {
 public:
  virtual ~Credentials() = default;
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

  /// Returns the identity for the next request. Reads a file or runs a program if the last identity
  /// has expired. Fails with a message that names the file or the program.
  virtual base::Result<Identity> Get() = 0;

  /// Takes note that the server answered 401 to a request with this identity. Returns whether the
  /// next Get may return another one, so that the caller should try once more.
  virtual bool OnUnauthorized(const Identity& used) = 0;

 protected:
  Credentials() = default;
};

}  // namespace berth::kube
