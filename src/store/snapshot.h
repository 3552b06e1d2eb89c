// A store's state in one file that no engine owns: saved from any engine while it works, read back
// into any other.
//
// Saving scans the store page by page at one revision; it takes no lock and holds a page and a
// block in memory. A file is written beside its name (FILE.part), synced and renamed, so that a
// file under its own name is whole.
//
// Format 1; numbers are little-endian and unsigned but for those called i64:
//
//   file    = header block* trailer, and nothing behind
//   header  = "berth snapshot\n" u32 format  i64 milliseconds since 1970  i64 revision
//             u16 size, source (text: where it came from)  sum
//   block   = 'B'  u32 size, entry*  sum                    at most kMaxBlockBytes of entries
//   entry   = u16 size, key  u32 size, value  i64 revision  i64 seconds left, 0: does not expire
//   trailer = 'E'  u64 keys  u64 keys that expire  u64 bytes of keys and values
//             checksum (StateSummary::Checksum)  sum
//   sum     = SHA-256 of the file up to here (32 bytes)
//
// Keys rise from entry to entry. Since each sum covers all before it, a changed, missing, doubled
// or moved byte is found in the block where it is.
//
// Threads: plain functions; two must not write the same file.
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

struct SnapshotInfo {
  uint32_t format = kSnapshotFormat;
  base::WallTime created = {};  // To the millisecond.
  Revision revision = {};       // The state right after it.
  std::string source = {};
  uint64_t keys = 0;
  uint64_t expiring = 0;  // Of keys.
  uint64_t bytes = 0;     // Of keys and values.
  uint64_t file_bytes = 0;
  Sha256Sum checksum = {};

  bool operator==(const SnapshotInfo&) const = default;
};

struct SnapshotOptions {
  std::string source = {};   // Noted in the file; cut to kMaxSourceBytes.
  Normalise normalise = {};  // The file holds values in this form.
  /// Called after every page with what is done so far.
  std::function<void(uint64_t keys, uint64_t bytes)> progress = {};
};

/// Takes the bytes of a snapshot in order; its error ends the saving.
using ByteSink = std::function<base::Result<void>(std::string_view bytes)>;

/// Saves all keys under /registry/ but the engines' own. kExpired when history ended before all was
/// read; kConflict when the store is an unfinished copy (store/copy.h).
base::Result<SnapshotInfo> SaveSnapshot(Engine& engine, const ByteSink& sink,
                                        const SnapshotOptions& options, const base::Clock& clock);

/// Into a file that must not exist; nothing is left behind on failure.
base::Result<SnapshotInfo> SaveSnapshotFile(Engine& engine, const std::string& path,
                                            const SnapshotOptions& options,
                                            const base::Clock& clock);

using EntrySink = std::function<base::Result<void>(Entry entry)>;

/// Hands out the entries, those of a block once its sum is right; all of it is worth something only
/// when this returns no error. `sink` may be empty. kInvalid, with the offset, for whatever is
/// not as it should be; the first error of the sink ends it.
base::Result<SnapshotInfo> ReadSnapshotFile(const std::string& path, const EntrySink& sink);

/// Fills up to `room` bytes and returns how many; 0 at the end.
using ByteSource = std::function<base::Result<size_t>(char* into, size_t room)>;

base::Result<SnapshotInfo> ReadSnapshot(const ByteSource& source, const EntrySink& sink);

}  // namespace berth::store
