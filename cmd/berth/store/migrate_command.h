// `berth migrate`: from its arguments to its exit code.
#pragma once

#include <string>

#include "berth/store/open.h"

namespace berth::cli {

/// As they were given.
struct MigrateArguments {
  std::string from = {};
  std::string to = {};
  bool replace = false;
  EtcdArguments etcd = {};
};

/// Copies the state of one store into another and compares them.
int RunMigrate(const MigrateArguments& arguments);

}  // namespace berth::cli
