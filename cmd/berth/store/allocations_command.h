// Runs `berth migrate-allocations`.
#pragma once

#include <string>

#include "berth/store/open.h"

namespace berth::cli {

/// The arguments as given.
struct AllocationsArguments {
  std::string to = {};
  bool force = false;
  std::string kubeconfig = {};
  std::string data_dir = {};
  std::string store = {};
  EtcdArguments etcd = {};
};

/// Switches a store between records and bitmaps. If a server uses the store, the server does it.
/// Returns the exit code.
int RunMigrateAllocations(const AllocationsArguments& arguments);

}  // namespace berth::cli
