// The folder of a history: its segments by number, and the lock that keeps a second observer out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace berth::history {

struct SegmentFile {
  uint64_t number = 0;
  std::string path = {};
  uint64_t bytes = 0;
};

/// Returns the path of a segment.
std::string SegmentPath(const std::string& directory, uint64_t number);

/// Returns the segments in the order of their numbers. Fails with kNotFound if there is no such
/// folder.
base::Result<std::vector<SegmentFile>> ListSegments(const std::string& directory);

/// Creates the folder if need be, and locks it until the result is destroyed. Fails with kConflict
/// if another process has the lock.
base::Result<base::Fd> LockDirectory(const std::string& directory);

/// Removes what an interrupted process has left unfinished. Needs the lock.
void RemoveUnfinished(const std::string& directory);

}  // namespace berth::history
