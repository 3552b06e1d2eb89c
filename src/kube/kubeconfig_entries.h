// The fields of the clusters, users and contexts of a kubeconfig. Fields that are not known are
// ignored, as kubectl does. A field of the wrong type is an error, which names the file and the
// entry. Pure: files that an entry names are not read here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "codec/value.h"
#include "kube/impersonation.h"
#include "kube/kubeconfig.h"

namespace berth::kube {

/// A certificate or a key: its text, or the file that contains it. If both are set, the text
/// counts.
struct PemSource {
  std::string pem = {};
  std::string path = {};

  bool IsEmpty() const { return pem.empty() && path.empty(); }
};

struct ContextSettings {
  std::string cluster = {};
  std::string user = {};
  std::string name_space = {};
};

struct ClusterSettings {
  std::string where = {};  ///< For messages: `cluster "prod" in /home/jane/.kube/config, line 9`.
  std::string server = {};
  PemSource authority = {};
  bool insecure = false;  ///< insecure-skip-tls-verify
  std::string tls_server_name = {};
  std::string proxy_url = {};
  bool disable_compression = false;
  codec::Value exec_config = {};  ///< What the cluster says to credential plugins; null if nothing.
};

/// Whether a credential plugin may talk to the user.
enum class InteractiveMode : uint8_t { kNever, kIfAvailable, kAlways };

/// How to run a credential plugin.
struct ExecSettings {
  std::string api_version = {};
  std::string command = {};  ///< A path, or a name that is looked up on the PATH.
  std::vector<std::string> arguments = {};
  std::vector<std::pair<std::string, std::string>> environment = {};
  InteractiveMode interactive_mode = InteractiveMode::kIfAvailable;
  bool provide_cluster_info = false;
  std::string install_hint = {};
};

struct UserSettings {
  std::string where = {};  ///< For messages: `user "jane" in /home/jane/.kube/config, line 9`.
  std::string token = {};
  std::string token_file = {};
  std::string username = {};
  std::string password = {};
  PemSource certificate = {};
  PemSource key = {};
  std::optional<ExecSettings> exec = {};
  std::string auth_provider = {};  ///< Its name, if the user has one. It is not supported.
  Impersonation impersonation = {};
};

base::Result<ContextSettings> ReadContext(const ConfigEntry& entry);
base::Result<ClusterSettings> ReadCluster(const ConfigEntry& entry);
base::Result<UserSettings> ReadUser(const ConfigEntry& entry);

/// Returns an error about an entry: `cluster "prod" in /home/jane/.kube/config: ...`.
tl::unexpected<base::Error> BadEntry(std::string_view where, std::string_view why);

}  // namespace berth::kube
