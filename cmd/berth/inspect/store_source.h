// Reads the objects of a cluster from a store at rest: a data directory that no server uses, or a
// snapshot file. Reads only.
#pragma once

#include <string>

#include "base/result.h"
#include "inspect/cluster_reader.h"

namespace berth::cli {

/// Adds what the data directory holds. Fails with kConflict if a server uses it.
base::Result<void> ReadClusterDirectory(const std::string& data_dir,
                                        inspect::ClusterReader& reader);

/// Adds what a snapshot file holds. Fails with kInvalid if it is not a valid one.
base::Result<void> ReadClusterSnapshot(const std::string& path, inspect::ClusterReader& reader);

}  // namespace berth::cli
