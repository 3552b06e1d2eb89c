// RocksDB as the engine uses it: its settings, its four column families, and opening it in a
// directory that may hold nothing yet, something foreign, or a damaged store.
//
// Damage: before RocksDB reads a log, log_check does, since RocksDB passes over some kinds of it in
// silence. A torn tail is cut off (a copy stays); anything worse is refused.
//
// Threads: an open Database may be used from any thread, as RocksDB may; it must not be destroyed
// while somebody uses it (database_gate.h sees to that).
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/status.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"

namespace berth::store::rocks {

struct DatabaseOptions {
  std::string directory;
  size_t cache_bytes = 0;
  size_t write_buffer_bytes = 0;
  rocksdb::Env* env = nullptr;  // Null: the operating system's.
  /// RocksDB failed in the background and takes no writes any more. Called on its threads, while
  /// it holds locks: must do no more than note it.
  std::function<void(const rocksdb::Status&)> on_background_error;
};

enum class OpenMode : uint8_t {
  kCreate,    // Makes what is missing.
  kExisting,  // A directory without a store is an error.
  kReadOnly,  // Likewise, and changes nothing.
};

enum class Family : uint8_t { kNotes, kData, kLog, kExpiry };
inline constexpr size_t kFamilies = 4;

class Database {
 public:
  /// The caller holds the directory's lock. `log` must outlive the database.
  static base::Result<std::unique_ptr<Database>> Open(const DatabaseOptions& options, OpenMode mode,
                                                      base::Logger& log, const base::Clock& clock);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  rocksdb::DB& Db() const { return *db_; }
  rocksdb::ColumnFamilyHandle* Handle(Family family) const {
    return handles_[static_cast<size_t>(family)];
  }

  /// Makes sure that all that was read from logs when this was opened stands in new files that are
  /// synced: after a failed sync a log may be readable and yet not be on the disk.
  rocksdb::Status RewriteAll();

 private:
  Database() = default;

  rocksdb::DB* db_ = nullptr;
  std::array<rocksdb::ColumnFamilyHandle*, kFamilies> handles_{};
};

/// Whether `directory` holds a store. An error when it holds something else, or a store that has
/// lost its beginning.
base::Result<bool> HoldsStore(const std::string& directory);

/// What a person is told when RocksDB fails at `doing` ("read", "write to"): damage comes with what
/// to do about it.
base::Error DatabaseError(std::string_view doing, const std::string& directory,
                          const rocksdb::Status& status);

/// The end of a message about a damaged log.
inline constexpr std::string_view kDamageAdvice =
    "restore a snapshot (berth snapshot restore) or give up what follows (berth salvage)";
/// Of one about any other file: there is no saying what it held.
inline constexpr std::string_view kTableAdvice = "restore a snapshot (berth snapshot restore)";

}  // namespace berth::store::rocks
