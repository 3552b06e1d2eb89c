// A data directory belongs to one process at a time. The lock is the kernel's (flock on the file
// `holder`), so it ends with the process; the file's text says who holds it and is of no account
// without the lock.
//
// Threads: everything here may be called from any thread; a second Take in the same process fails
// like one in another.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace berth::store::rocks {

class DirLock {
 public:
  /// Lets go of the directory.
  virtual ~DirLock() = default;

  /// Makes the directory if it is missing (mode 0700), then locks it. When somebody else has it:
  /// kConflict, naming directory, pid, command and since when. No permission, not a directory,
  /// no parent, read-only file system, no space: says so and what to do.
  static base::Result<std::unique_ptr<DirLock>> Take(const std::string& directory,
                                                     const base::Clock& clock);
};

/// Free bytes of the file system `directory` lies on, for an unprivileged writer.
base::Result<uint64_t> FreeBytes(const std::string& directory);

}  // namespace berth::store::rocks
