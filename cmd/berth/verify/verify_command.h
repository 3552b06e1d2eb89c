// Runs `berth verify`: one pass of the auditor's checks over a store, a snapshot, files or a
// running server, be it Berth or Kubernetes. It never writes.
#pragma once

#include <string>
#include <vector>

#include "berth/inspect/source_arguments.h"
#include "berth/store/open.h"

namespace berth::cli {

/// The arguments as given. At most one source may be set. Without one, it is the cluster that
/// kubectl would use.
struct VerifyArguments {
  SourceArguments source = {};
  std::vector<std::string> etcd_servers = {};
  EtcdArguments etcd = {};
  OutputArguments output = {};
};

/// Returns the exit code: 0 if nothing is wrong, 1 for findings, 2 if it could not look.
int RunVerify(const VerifyArguments& arguments);

}  // namespace berth::cli
