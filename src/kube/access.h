// Everything that a client needs to know before its first request: where the server is, how to
// trust it, and who the client is. `find_access.h` makes it, `api_client.h` uses it. Plain
// types.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "http/client.h"
#include "kube/credentials.h"

namespace berth::kube {

struct Access {
  std::string url = {};     ///< As configured, for messages: "https://10.0.0.1:6443/k8s".
  std::string origin = {};  ///< Where it was found: `context "prod" of /home/jane/.kube/config`.
  /// Host, port, TLS and proxy. The client certificate and the token come from `credentials`.
  http::ClientOptions client = {};
  std::string path_prefix = {};  ///< Put before each path: "" or "/k8s/clusters/c-1".
  /// Headers of every request, such as Impersonate-User.
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string name_space = "default";  ///< The namespace of the context.
  /// The longest time for one request that is not a watch; 0 means no limit.
  std::chrono::nanoseconds request_timeout{0};
  std::shared_ptr<Credentials> credentials = {};  ///< Null if requests carry no identity.
};

}  // namespace berth::kube
