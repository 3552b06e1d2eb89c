// The running server that a command talks to, ready for requests with http::Client.
#pragma once

#include <string>

#include "base/result.h"
#include "http/client.h"
#include "http/headers.h"

namespace berth::cli {

struct ApiTarget {
  std::string url = {};  // For messages.
  http::ClientOptions client = {};
  http::Headers headers = {};    // Of every request.
  std::string path_prefix = {};  // Before the path of every request.

  /// Returns a request for a path of the API.
  http::ClientRequest Request(const std::string& path) const {
    return {.target = path_prefix + path, .headers = headers};
  }
};

/// Finds the server of the current context of a kubeconfig, as kubectl does, and logs in: it may
/// run a credential plugin. The error says what is missing or not supported, and in which file.
base::Result<ApiTarget> FindTarget(const std::string& kubeconfig);

}  // namespace berth::cli
