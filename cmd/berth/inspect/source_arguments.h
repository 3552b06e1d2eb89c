// The arguments that say which cluster a command looks at. All commands of this folder share them.
#pragma once

#include <string>
#include <vector>

namespace berth::cli {

/// The arguments as given. Without a file, a data directory or a snapshot, the source is the
/// cluster that kubectl would use.
struct SourceArguments {
  std::vector<std::string> files = {};  ///< Objects in JSON or YAML; "-" is standard input.
  std::string data_dir = {};            ///< A data directory of Berth that no server uses.
  std::string snapshot = {};            ///< A snapshot file of Berth.

  std::string kubeconfig = {};
  std::string context = {};
  std::string server = {};
  std::string token = {};
  std::string as = {};
  std::vector<std::string> as_groups = {};
  std::string request_timeout = {};
  bool insecure_skip_tls_verify = false;
  std::string certificate_authority = {};

  std::string node_port_range = {};             ///< Overrides what the source says.
  std::vector<std::string> service_cidrs = {};  ///< For a source that does not show them.
};

/// Returns whether an argument names the source. Ranges alone do not.
inline bool NamesSource(const SourceArguments& source) {
  return !source.files.empty() || !source.data_dir.empty() || !source.snapshot.empty() ||
         !source.kubeconfig.empty() || !source.context.empty() || !source.server.empty() ||
         !source.token.empty() || !source.as.empty() || !source.as_groups.empty() ||
         !source.request_timeout.empty() || !source.certificate_authority.empty() ||
         source.insecure_skip_tls_verify;
}

/// The arguments that say how the answer looks.
struct OutputArguments {
  std::string format = "table";  ///< "table", "wide", "json" or "yaml".
  bool watch = false;            ///< Show the answer again whenever the cluster has changed.
};

}  // namespace berth::cli
