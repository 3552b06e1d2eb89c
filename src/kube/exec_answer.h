// What a credential plugin and this program say to each other, in the format
// client.authentication.k8s.io v1 and v1beta1. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "codec/value.h"
#include "kube/credentials.h"
#include "kube/kubeconfig_entries.h"

namespace berth::kube {

/// The credential that a plugin prints.
struct ExecAnswer {
  Identity identity = {};
  std::optional<base::WallTime> expires = {};  ///< Unset if it does not expire by time.
};

/// Parses what a plugin printed. It must be an ExecCredential of this API version, with a token, or
/// with a certificate and its key, or with both. The error is the end of a sentence that begins
/// with the plugin, and never contains a secret.
base::Result<ExecAnswer> ParseExecAnswer(std::string_view output, std::string_view api_version);

/// Returns the value of KUBERNETES_EXEC_INFO. `cluster` is null if the plugin does not ask for it.
std::string ExecInfo(std::string_view api_version, bool interactive, const codec::Value& cluster);

/// Returns what a plugin learns about the cluster. `authority_pem` is the content of its
/// certificate authority.
codec::Value ExecClusterInfo(const ClusterSettings& cluster, std::string_view authority_pem);

}  // namespace berth::kube
