// Runs `berth snapshot save`, `restore` and `status`. The functions return the exit code.
#pragma once

#include <string>

namespace berth::cli {

/// The arguments as given. A command uses only those that it has.
struct SnapshotArguments {
  std::string file = {};
  std::string data_dir = {};
  std::string kubeconfig = {};
  std::string output = "table";
};

/// Saves the state of a data directory, or of the server that a kubeconfig names. If a server uses
/// the data directory, the state comes from that server.
int RunSnapshotSave(const SnapshotArguments& arguments);

/// Creates a data directory from a snapshot.
int RunSnapshotRestore(const SnapshotArguments& arguments);

/// Shows what is in a snapshot, or in a data directory that no server uses.
int RunSnapshotStatus(const SnapshotArguments& arguments);

}  // namespace berth::cli
