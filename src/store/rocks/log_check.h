// Tells a torn tail from damage in RocksDB's write-ahead log. Only the last record may be bad
// without a loss of acknowledged writes. The files are read here, because RocksDB takes a record
// that is cut short, or zeroes in place of records, for the end of a block or file and continues
// after it.
//
// A write that a crash cut short leaves a bad record with nothing after it. That is an
// unacknowledged tail and can be cut off. After each synced batch that has no successor yet, the
// engine appends a small unsynced record, the seal. So a bad record with any readable record after
// it, also in a later log file, was acknowledged once. That is damage, and nothing may be cut off
// unless the operator asks for it. For this to hold, a torn tail must be cut off before RocksDB
// opens the directory, because RocksDB goes on in a new file and may keep the old one.
//
// Log format (RocksDB's, fixed): a file consists of blocks of 32 KiB, and a block of records. A
// record has a masked crc32c (4 bytes), a length (2 bytes), a type (1 byte) and a payload. Types 1
// to 4 are full, first, middle and last. Types 5 to 8 are the same with a 4-byte log number after
// the type. Zeroes fill the end of a block where no header fits.
//
// Threads: these are plain functions that may be called from any thread. The caller must hold the
// directory's lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::store::rocks {

struct BadRecord {
  std::string file;           // The path.
  uint64_t offset = 0;        // The offset of the record, or of its first fragment.
  std::string what;           // "checksum mismatch", "record cut short", ...
  bool tail = false;          // No readable record follows in this file or a later one.
  uint64_t lost_records = 0;  // The readable records after it, which cutting here would lose too.
  uint64_t lost_bytes = 0;    // From the offset to the end of the file, plus all later files.
};

/// Reads the log files (<number>.log) of a data directory in order and returns the first bad
/// record. Returns nullopt if every record is readable or there is no log. Zeroes at the end of a
/// file are not a record.
base::Result<std::optional<BadRecord>> CheckLogs(const std::string& directory);

/// The result of scanning the bytes of one file, for CheckLogs and for fuzzing. After a bad record
/// the scan continues at the next readable one, in the same block or a later one. A fragment alone
/// is not a record.
struct LogScan {
  uint64_t records = 0;  // Readable records before the bad one.
  std::optional<uint64_t> bad_offset;
  std::string what;
  uint64_t records_after = 0;  // Readable records after the bad one.
};
LogScan ScanLog(std::string_view bytes);

/// Cuts the log at the bad record. Copies the bytes of this file from the bad record on into
/// `directory`/cut-<UTC time>/ and syncs the copy, moves later log files there, then truncates the
/// file. The truncation comes last: until then the directory still holds the bad record, and the
/// cut can be repeated. Returns the folder of the copy.
base::Result<std::string> CutLog(const std::string& directory, const BadRecord& bad,
                                 std::string_view utc_time);

}  // namespace berth::store::rocks
