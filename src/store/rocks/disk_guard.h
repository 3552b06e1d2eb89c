// Keeps a reserve of a disk free. Writes are refused before the disk is full, so that reads,
// flushes and compactions have room to go on. The guard looks at the disk at most ten times a
// second.
//
// Threads: every function may be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/mutex.h"
#include "base/result.h"

namespace berth::store::rocks {

class DiskGuard {
 public:
  using FreeBytes = std::function<base::Result<uint64_t>(const std::string& directory)>;

  DiskGuard(std::string directory, uint64_t min_free, FreeBytes free_bytes);

  /// Returns why writes are refused at present. Returns nullopt if they are not.
  std::optional<base::Error> Refusal();

  /// Returns whether there is no room even for the small writes that give up history. Those are let
  /// through longer because they free space in the end.
  bool IsExhausted();

 private:
  uint64_t Look() EXCLUDES(mutex_);

  const std::string directory_;
  const uint64_t min_free_;
  const FreeBytes free_bytes_;
  base::Mutex mutex_;
  std::optional<std::chrono::steady_clock::time_point> looked_ GUARDED_BY(mutex_);
  uint64_t free_ GUARDED_BY(mutex_) = 0;
};

}  // namespace berth::store::rocks
