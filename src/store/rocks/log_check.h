// Tells a torn tail from damage in RocksDB's write-ahead log, whose last record alone may be bad
// without anything acknowledged being lost. It reads the files itself: RocksDB takes a record cut
// short, or zeroes where records were, for the end of a block or file and goes on behind it.
//
// A write that a crash cut short leaves a bad record and nothing behind it: that is an
// unacknowledged tail and can be cut off. After each synced batch that has no successor yet the
// engine appends a small unsynced record, the seal; so a bad record with any readable record behind
// it (also in a later log file) was acknowledged once: that is damage, and nothing may be cut
// without somebody saying so. For this to hold a torn tail is to be cut before RocksDB opens the
// directory: it goes on in a new file and may leave the old one behind.
//
// Log format (RocksDB's, fixed): blocks of 32 KiB; in a block records of a masked crc32c (4 bytes),
// length (2), type (1: full, 2: first, 3: middle, 4: last; 5 to 8: the same with a 4-byte log
// number behind the header) and payload; zeroes to the end of a block where no header fits.
//
// Threads: plain functions, safe from any thread; the directory must be locked by the caller.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::store::rocks {

struct BadRecord {
  std::string file;           // Path.
  uint64_t offset = 0;        // Where the (first fragment of the) record begins.
  std::string what;           // "checksum mismatch", "record cut short", ...
  bool tail = false;          // Nothing readable follows, in this file or a later one.
  uint64_t lost_records = 0;  // Readable records behind it: what cutting here would lose as well.
  uint64_t lost_bytes = 0;    // From the offset to the end of the file, and later files.
};

/// Reads the log files (<number>.log) of a data directory in order and tells the first bad record;
/// nothing when every record is readable (zeroes at the end of a file are no record) or there is no
/// log.
base::Result<std::optional<BadRecord>> CheckLogs(const std::string& directory);

/// One file's bytes, for CheckLogs and for fuzzing: where the first bad record begins, and how many
/// readable ones follow it. Behind a bad record it goes on at the next one that can be read, be it
/// in the same block or a later one. A fragment alone is not a record.
struct LogScan {
  uint64_t records = 0;  // Readable, before the bad one.
  std::optional<uint64_t> bad_offset;
  std::string what;
  uint64_t records_after = 0;
};
LogScan ScanLog(std::string_view bytes);

/// Cuts the log at the bad record: copies what is cut of this file into `directory`/cut-<UTC time>/
/// and syncs it, moves later log files there, then truncates. Until the truncation, which comes
/// last, the directory still holds the bad record, and the whole may be repeated. Returns the
/// folder of the copy.
base::Result<std::string> CutLog(const std::string& directory, const BadRecord& bad,
                                 std::string_view utc_time);

/// CRC-32C (Castagnoli) of `bytes`, behind bytes that have the checksum `before`.
uint32_t Crc32c(std::string_view bytes, uint32_t before = 0);

}  // namespace berth::store::rocks
