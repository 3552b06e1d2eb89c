// The URL of an API server or of a proxy, split into its parts. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::kube {

struct ServerUrl {
  bool tls = true;
  std::string host = {};  ///< A name or an address. An IPv6 address has no brackets.
  uint16_t port = 0;
  std::string path_prefix = {};  ///< "" or "/k8s/clusters/c-1", without a slash at the end.

  bool operator==(const ServerUrl&) const = default;
};

/// Parses the server of a cluster. As for kubectl, a text without a scheme means http, and a query
/// is ignored. The error does not contain the text.
base::Result<ServerUrl> ParseServerUrl(std::string_view text);

/// Checks the URL of a proxy, and returns it without the path. It may contain a user and a
/// password. The error does not contain the text, because of the password.
base::Result<std::string> CheckProxyUrl(std::string_view text);

}  // namespace berth::kube
