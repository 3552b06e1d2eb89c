// Downloads a snapshot from a running server.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "berth/client/api_target.h"
#include "store/snapshot_file.h"

namespace berth::cli {

/// Saves a snapshot to a file that must not exist. The file gets its name after the whole snapshot
/// was checked; on failure no file is left. `progress` is called with the number of bytes received.
base::Result<store::SnapshotFileInfo> FetchSnapshot(const ApiTarget& target,
                                                    const std::string& file,
                                                    const std::function<void(uint64_t)>& progress);

}  // namespace berth::cli
