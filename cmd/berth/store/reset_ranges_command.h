// Runs `berth reset-ranges`.
#pragma once

#include <string>

#include "berth/store/open.h"

namespace berth::cli {

/// The arguments as given.
struct ResetRangesArguments {
  std::string cluster_ip_range = {};
  std::string node_port_range = {};
  std::string data_dir = {};
  std::string store = {};
  bool yes = false;
  EtcdArguments etcd = {};
};

/// Makes the first ranges of a store those of the arguments, or shows what that would change.
/// Returns the exit code.
int RunResetRanges(const ResetRangesArguments& arguments);

}  // namespace berth::cli
