// A snapshot from a running server, over its API.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "berth/client/kubeconfig.h"
#include "store/snapshot.h"

namespace berth::cli {

/// Into a file that must not exist. All of it is checked before it is there under its name; nothing
/// is left behind on failure. `progress` is told the bytes received.
base::Result<store::SnapshotInfo> FetchSnapshot(const ApiTarget& target, const std::string& file,
                                                const std::function<void(uint64_t)>& progress);

}  // namespace berth::cli
