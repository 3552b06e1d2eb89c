// Whom to talk to, and as whom: the current context of a kubeconfig, as kubectl uses it. Of its
// many ways to log in it knows certificates and tokens. Pure but for the files it is told to read.
#pragma once

#include <string>

#include "base/result.h"
#include "http/client.h"

namespace berth::cli {

struct ApiTarget {
  std::string url = {};  // For messages.
  http::ClientOptions client = {};
};

/// kInvalid, with the file's name, for what is missing or not understood.
base::Result<ApiTarget> ReadKubeconfig(const std::string& path);

}  // namespace berth::cli
