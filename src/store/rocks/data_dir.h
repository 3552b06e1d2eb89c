// The lock of a data directory, which belongs to one process at a time. The lock is the kernel's
// (flock on the file `holder`), so it ends with the process. The file's text names the process that
// holds the lock. It means nothing without the lock.
//
// Threads: every function may be called from any thread. A second Take in the same process fails
// like one in another process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace berth::store::rocks {

class DirLock {
 public:
  /// Releases the directory.
  virtual ~DirLock() = default;

  /// Creates the directory if it is missing (mode 0700), then locks it. Fails with kConflict if
  /// another process has the lock. The message then names the directory, and the pid, the command
  /// and the start time of that process. Other failures (no permission, not a directory, no parent,
  /// read-only file system, no space) come with a message that says what to do.
  static base::Result<std::unique_ptr<DirLock>> Take(const std::string& directory,
                                                     const base::Clock& clock);
};

/// Returns the free bytes of the file system of `directory`, for an unprivileged writer.
base::Result<uint64_t> FreeBytes(const std::string& directory);

/// Returns the current time for the name of a folder: "20261115T043500Z".
std::string FolderTime(const base::Clock& clock);

}  // namespace berth::store::rocks
