// `berth snapshot save`, `restore` and `status`: from their arguments to their exit codes.
#pragma once

#include <string>

namespace berth::cli {

/// As they were given; of each command those it has.
struct SnapshotArguments {
  std::string file = {};
  std::string data_dir = {};
  std::string kubeconfig = {};
  std::string output = "table";
};

/// Saves the state of a data directory, from the server that uses it if there is one, or of the
/// server that a kubeconfig names.
int RunSnapshotSave(const SnapshotArguments& arguments);

/// Makes a data directory of a snapshot.
int RunSnapshotRestore(const SnapshotArguments& arguments);

/// Shows what is in a snapshot, or in a data directory that nobody uses.
int RunSnapshotStatus(const SnapshotArguments& arguments);

}  // namespace berth::cli
