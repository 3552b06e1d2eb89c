// Reads the objects of a cluster from files or from standard input: what `kubectl get services -A
// -o json` prints, a List, or any number of YAML documents.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "inspect/cluster_reader.h"

namespace berth::cli {

/// The largest file that is read.
inline constexpr size_t kMaxClusterFileBytes = size_t{1} << 30;

/// Adds the objects of all files. Fails with kInvalid, and names the file and the line, if one
/// cannot be read or holds nothing of use.
base::Result<void> ReadClusterFiles(const std::vector<std::string>& files,
                                    inspect::ClusterReader& reader);

}  // namespace berth::cli
