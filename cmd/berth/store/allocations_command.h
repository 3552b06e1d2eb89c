// `berth migrate-allocations`: from its arguments to its exit code.
#pragma once

#include <string>

#include "berth/store/open.h"

namespace berth::cli {

/// As they were given.
struct AllocationsArguments {
  std::string to = {};
  bool force = false;
  std::string kubeconfig = {};
  std::string data_dir = {};
  std::string store = {};
  EtcdArguments etcd = {};
};

/// Switches a store between records and bitmaps: by the server that uses it, or itself.
int RunMigrateAllocations(const AllocationsArguments& arguments);

}  // namespace berth::cli
