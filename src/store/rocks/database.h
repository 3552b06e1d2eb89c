// RocksDB as the engine uses it: its settings, its four column families, and opening it in a
// directory that may be empty, or hold foreign files or a damaged store.
//
// Damage: log_check reads a log before RocksDB does, because RocksDB silently skips some kinds of
// damage. A torn tail is cut off and a copy of it is kept. Anything worse is refused.
//
// Threads: an open Database may be used from any thread, as RocksDB may. It must not be destroyed
// while a thread uses it (database_gate.h takes care of that).
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
  rocksdb::Env* env = nullptr;  // Null means the operating system's.
  /// Called when RocksDB has failed in the background and takes no more writes. It is called on
  /// RocksDB's threads while they hold locks, so it must only note the error.
  std::function<void(const rocksdb::Status&)> on_background_error;
};

enum class OpenMode : uint8_t {
  kCreate,    // Creates the store if it is missing.
  kExisting,  // Fails if the directory has no store.
  kReadOnly,  // Fails if the directory has no store, and changes nothing.
};

enum class Family : uint8_t { kNotes, kData, kLog, kExpiry };
inline constexpr size_t kFamilies = 4;

class Database {
 public:
  /// Opens the database. The caller must hold the directory's lock. `log` must outlive the
  /// database.
  static base::Result<std::unique_ptr<Database>> Open(const DatabaseOptions& options, OpenMode mode,
                                                      base::Logger& log, const base::Clock& clock);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  rocksdb::DB& Db() const { return *db_; }
  rocksdb::ColumnFamilyHandle* Handle(Family family) const {
    return handles_[static_cast<size_t>(family)];
  }

  /// Makes sure that everything that opening read from logs is in new, synced files. After a failed
  /// sync a log may be readable although it is not on the disk.
  rocksdb::Status RewriteAll();

 private:
  Database() = default;

  rocksdb::DB* db_ = nullptr;
  std::array<rocksdb::ColumnFamilyHandle*, kFamilies> handles_{};
};

/// Returns whether `directory` holds a store. Fails if it holds something else, or a store without
/// its file CURRENT.
base::Result<bool> HoldsStore(const std::string& directory);

/// Returns the error for people when RocksDB fails at `doing` ("read", "write to"). For damage the
/// message says what to do about it.
base::Error DatabaseError(std::string_view doing, const std::string& directory,
                          const rocksdb::Status& status);

/// The advice at the end of a message about a damaged log.
inline constexpr std::string_view kDamageAdvice =
    "restore a snapshot (berth snapshot restore) or give up what follows (berth salvage)";
/// The advice for any other damaged file. Salvage cannot help there, since it is not known what the
/// file held.
inline constexpr std::string_view kTableAdvice = "restore a snapshot (berth snapshot restore)";

}  // namespace berth::store::rocks
