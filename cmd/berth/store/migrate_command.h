// Runs `berth migrate`.
#pragma once

#include <string>

#include "berth/store/open.h"

namespace berth::cli {

/// The arguments as given.
struct MigrateArguments {
  std::string from = {};
  std::string to = {};
  bool replace = false;
  EtcdArguments etcd = {};
};

/// Copies the state of one store into another and compares them. Returns the exit code.
int RunMigrate(const MigrateArguments& arguments);

}  // namespace berth::cli
