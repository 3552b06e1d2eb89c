// A snapshot file: a store's state in one file, in a format that does not depend on the engine. It
// is saved from any engine while the engine works, and can be read into any other.
//
// Saving scans the store page by page at one revision. It takes no lock and holds one page and one
// block in memory. A file is written as FILE.part, synced and renamed, so that a file that has its
// own name is complete.
//
// Format 1. Numbers are little-endian, and unsigned except those called i64:
//
//   file    = header block* trailer, and nothing after it
//   header  = "berth snapshot\n" u32 format  i64 milliseconds since 1970  i64 revision
//             u16 size, source (text: where it came from)  sum
//   block   = 'B'  u32 size, entry*  sum                    at most kMaxBlockBytes of entries
//   entry   = u16 size, key  u32 size, value  i64 revision
//             i64 seconds left (0 if the key does not expire)
//   trailer = 'E'  u64 keys  u64 keys that expire  u64 bytes of keys and values
//             checksum (StateSummary::Checksum)  sum
//   sum     = SHA-256 of the file up to here (32 bytes)
//
// Keys rise from entry to entry. Each sum covers all bytes before it, so a changed, missing,
// doubled or moved byte is found in the block where it is.
//
// Threads: these are plain functions. Two calls must not write the same file at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "store/digest.h"
#include "store/engine.h"
#include "store/types.h"

namespace berth::store {

inline constexpr uint32_t kSnapshotFormat = 1;
inline constexpr size_t kMaxBlockBytes = size_t{2} << 20;
inline constexpr size_t kMaxSourceBytes = 4096;

struct SnapshotFileInfo {
  uint32_t format = kSnapshotFormat;
  base::WallTime created = {};  // To the millisecond.
  Revision revision = {};       // The file holds the state right after this revision.
  std::string source = {};
  uint64_t keys = 0;
  uint64_t expiring = 0;  // How many of the keys expire.
  uint64_t bytes = 0;     // Sum of keys and values.
  uint64_t file_bytes = 0;
  Sha256Sum checksum = {};

  bool operator==(const SnapshotFileInfo&) const = default;
};

struct SnapshotFileOptions {
  std::string source = {};   // Written into the file, cut to kMaxSourceBytes.
  Normalise normalise = {};  // The file holds values in this form.
  /// Called after every page with the counts so far.
  std::function<void(uint64_t keys, uint64_t bytes)> progress = {};
};

/// Takes the bytes of a snapshot in order. An error of the sink ends the saving.
using ByteSink = std::function<base::Result<void>(std::string_view bytes)>;

/// Saves all keys under /registry/ except those of the engines. Fails with kExpired if history was
/// given up before everything was read, and with kConflict if the store is an unfinished copy
/// (store/copy.h).
base::Result<SnapshotFileInfo> SaveSnapshot(Engine& engine, const ByteSink& sink,
                                            const SnapshotFileOptions& options,
                                            const base::Clock& clock);

/// Saves a snapshot into a file that must not exist. Leaves no file if it fails.
base::Result<SnapshotFileInfo> SaveSnapshotFile(Engine& engine, const std::string& path,
                                                const SnapshotFileOptions& options,
                                                const base::Clock& clock);

using EntrySink = std::function<base::Result<void>(Entry entry)>;

/// Reads a snapshot and passes its entries to `sink`, those of a block only after the block's sum
/// was right. The entries are valid only if this returns no error. `sink` may be empty. Returns
/// kInvalid with the offset if the file is not a valid snapshot. The first error of the sink ends
/// the reading.
base::Result<SnapshotFileInfo> ReadSnapshotFile(const std::string& path, const EntrySink& sink);

/// Fills up to `room` bytes and returns how many it filled. Returns 0 at the end.
using ByteSource = std::function<base::Result<size_t>(char* into, size_t room)>;

base::Result<SnapshotFileInfo> ReadSnapshot(const ByteSource& source, const EntrySink& sink);

}  // namespace berth::store
