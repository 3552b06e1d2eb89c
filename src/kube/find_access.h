// Finds the cluster that the user means and the identity to enter it with, as kubectl does: from
// flags, kubeconfig files, or the service account of the pod that this program runs in.
//
// Nothing is sent to the cluster, and no plugin is run: that happens when the credentials are used.
// Errors name the flag, or the file and the context, cluster or user in it, and say what to do.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kube/access.h"
#include "kube/surroundings.h"

namespace berth::kube {

/// The flags that kubectl has for this, under the same names. Empty means that a flag is not given.
struct AccessOptions {
  std::string kubeconfig = {};
  std::string context = {};
  std::string server = {};
  std::string token = {};
  std::string as = {};
  std::string as_uid = {};
  std::vector<std::string> as_groups = {};
  std::string request_timeout = {};
  bool insecure_skip_tls_verify = false;
  std::string certificate_authority = {};
  std::string tls_server_name = {};
  std::string proxy_url = {};
};

/// Looks in this order: the kubeconfig files (see LoadKubeconfig) if they say anything; `server`;
/// the pod's service account. Flags replace what these say.
///
/// Over plain http, credentials are not sent. A token replaces every other way to log in except a
/// client certificate, which is part of the connection.
base::Result<Access> FindAccess(const AccessOptions& options, const Surroundings& around);

}  // namespace berth::kube
