#include "store/rocks/database.h"

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/table_properties_collectors.h>

#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "store/rocks/data_dir.h"
#include "store/rocks/log_check.h"
#include "store/rocks/rocks_layout.h"

namespace berth::store::rocks {
namespace {

using base::Reason;

/// Writes RocksDB's warnings and errors into Berth's log. RocksDB makes no log files of its own.
class InfoLog final : public rocksdb::Logger {
 public:
  explicit InfoLog(base::Logger& log)
      : rocksdb::Logger(rocksdb::InfoLogLevel::WARN_LEVEL), log_(log) {}

  using rocksdb::Logger::Logv;
  void Logv(const rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
    if (level < rocksdb::InfoLogLevel::WARN_LEVEL || level > rocksdb::InfoLogLevel::FATAL_LEVEL) {
      return;
    }
    std::array<char, 512> text{};
    const int length = std::vsnprintf(text.data(), text.size(), format, arguments);
    if (length > 0) log_.Warn("rocksdb", {{"says", std::string_view(text.data())}});
  }
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}  // Without a level.

 private:
  base::Logger& log_;
};

class Listener final : public rocksdb::EventListener {
 public:
  explicit Listener(std::function<void(const rocksdb::Status&)> report)
      : report_(std::move(report)) {}

  void OnBackgroundError(rocksdb::BackgroundErrorReason /*reason*/,
                         rocksdb::Status* status) override {
    if (report_) report_(*status);
  }

  /// Turns off RocksDB's own recovery. The engine reopens the database instead, since it must learn
  /// what is on the disk.
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status /*status*/,
                            bool* auto_recovery) override {
    *auto_recovery = false;
  }

 private:
  const std::function<void(const rocksdb::Status&)> report_;
};

rocksdb::DBOptions MakeDbOptions(const DatabaseOptions& options, OpenMode mode, base::Logger& log) {
  rocksdb::DBOptions db;
  if (options.env != nullptr) db.env = options.env;
  db.create_if_missing = mode == OpenMode::kCreate;
  db.create_missing_column_families = mode != OpenMode::kReadOnly;
  db.info_log = std::make_shared<InfoLog>(log);
  db.listeners.push_back(std::make_shared<Listener>(options.on_background_error));
  db.max_bgerror_resume_count = 0;
  db.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  // Without this limit, families that are seldom written would keep old logs alive for a very long
  // time, and all of them would be replayed on opening.
  db.max_total_wal_size = options.write_buffer_bytes * 4;
  db.max_background_jobs = 2;
  db.allow_concurrent_memtable_write = false;  // One thread writes.
  db.bytes_per_sync = uint64_t{1} << 20;       // Flushes in small steps, beside the log's syncs.
  db.stats_dump_period_sec = 0;
  db.stats_persist_period_sec = 0;
  db.skip_stats_update_on_db_open = true;
  return db;
}

rocksdb::ColumnFamilyOptions MakeFamilyOptions(size_t write_buffer_bytes,
                                               rocksdb::BlockBasedTableOptions table) {
  table.checksum = rocksdb::kXXH3;
  rocksdb::ColumnFamilyOptions family;
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  family.write_buffer_size = write_buffer_bytes;
  family.max_write_buffer_number = 3;
  family.level_compaction_dynamic_level_bytes = true;
  // The upper levels are rewritten soon. The bottom level holds nearly all data and is worth
  // compressing.
  family.compression = rocksdb::kNoCompression;
  family.bottommost_compression = rocksdb::kLZ4Compression;
  return family;
}

/// Makes RocksDB compact files with many deletes at once. Every scan passes deleted rows until they
/// are compacted, so this is for families that are scanned all the time. It is not for the family
/// of the data: where Services are created and deleted all the time, half of its writes are
/// deletes. Each file of them would be merged at once with all data below it, and a store of a
/// million objects would do little else.
rocksdb::ColumnFamilyOptions CompactedSoon(rocksdb::ColumnFamilyOptions family) {
  family.table_properties_collector_factories.push_back(
      rocksdb::NewCompactOnDeletionCollectorFactory(/*sliding_window_size=*/1000,
                                                    /*deletion_trigger=*/500));
  return family;
}

std::vector<rocksdb::ColumnFamilyDescriptor> MakeFamilies(const DatabaseOptions& options) {
  rocksdb::BlockBasedTableOptions walked;  // For families that are read row by row.
  walked.block_cache = rocksdb::NewLRUCache(options.cache_bytes);
  rocksdb::BlockBasedTableOptions looked_up = walked;
  looked_up.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  const auto small = CompactedSoon(MakeFamilyOptions(size_t{1} << 20, walked));
  // The log grows by a quarter of what the data do, or less. With a quarter of the buffer both are
  // flushed equally often, and neither keeps RocksDB's own logs alive.
  return {{rocksdb::kDefaultColumnFamilyName, small},
          {std::string(kDataFamily), MakeFamilyOptions(options.write_buffer_bytes, looked_up)},
          {std::string(kLogFamily),
           CompactedSoon(MakeFamilyOptions(options.write_buffer_bytes / 4, walked))},
          {std::string(kExpiryFamily), small}};
}

/// Cuts off a torn tail. Returns false if there is a torn tail and `mode` is read-only, so that it
/// stays. Fails on damage.
base::Result<bool> CheckTail(const std::string& directory, OpenMode mode, base::Logger& log,
                             const base::Clock& clock) {
  auto bad = CheckLogs(directory);
  if (!bad) return tl::unexpected(std::move(bad.error()));
  if (!*bad) return true;
  const BadRecord& record = **bad;
  if (!record.tail) {
    return base::Fail(
        Reason::kInternalError,
        fmt::format("the store in {} is damaged: {} at byte {} of {}, followed by {} records that "
                    "can be read; {}",
                    directory, record.what, record.offset, record.file, record.lost_records,
                    kDamageAdvice));
  }
  if (mode == OpenMode::kReadOnly) return false;
  auto copy = CutLog(directory, record, FolderTime(clock));
  if (!copy) return tl::unexpected(std::move(copy.error()));
  log.Warn("cut off the torn end of the log: a write that was never acknowledged",
           {{"file", record.file},
            {"offset", record.offset},
            {"bytes", record.lost_bytes},
            {"what", record.what},
            {"copy", *copy}});
  return true;
}

bool IsRocksFile(const std::string& name) {
  return name == "LOCK" || name == "IDENTITY" || name == "LOG" || name.starts_with("LOG.old.") ||
         name.starts_with("MANIFEST-") || name.starts_with("OPTIONS-") || name.ends_with(".dbtmp");
}

}  // namespace

base::Result<bool> HoldsStore(const std::string& directory) {
  const std::filesystem::path path(directory);
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) return false;
  bool current = false;
  std::string table_or_log;
  std::string foreign;
  std::filesystem::directory_iterator it(path, error);
  for (; !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename();
    if (name == "CURRENT") {
      current = true;
    } else if (name.ends_with(".sst") || name.ends_with(".log")) {
      table_or_log = name;
    } else if (!IsRocksFile(name) && name != "holder" && name != "lost+found" &&
               !name.starts_with("cut-")) {
      foreign = name;
    }
  }
  if (error) {
    return base::Fail(Reason::kInternalError,
                      fmt::format("cannot read the directory {}: {}", directory, error.message()));
  }
  if (current) return true;
  if (!table_or_log.empty()) {
    return base::Fail(Reason::kInternalError,
                      fmt::format("the store in {} is damaged: the file CURRENT is missing though "
                                  "{} is there; restore a snapshot (berth snapshot restore)",
                                  directory, table_or_log));
  }
  if (!foreign.empty()) {
    return base::Fail(Reason::kConflict,
                      fmt::format("{} holds something that is not a store ({}); name a directory "
                                  "that is empty or does not exist",
                                  directory, foreign));
  }
  return false;
}

base::Error DatabaseError(std::string_view doing, const std::string& directory,
                          const rocksdb::Status& status) {
  const std::string text = status.ToString();
  if (status.IsNoSpace()) {
    return {.reason = Reason::kServiceUnavailable,
            .message = fmt::format("cannot {} the store in {}: no space left on its disk ({})",
                                   doing, directory, text)};
  }
  // A missing file is damage as well; RocksDB's text names it.
  if (status.IsCorruption() || status.IsPathNotFound()) {
    return {.reason = Reason::kInternalError,
            .message =
                fmt::format("the store in {} is damaged: {}; {}", directory, text, kTableAdvice)};
  }
  return {.reason = Reason::kServiceUnavailable,
          .message = fmt::format("cannot {} the store in {}: {}", doing, directory, text)};
}

base::Result<std::unique_ptr<Database>> Database::Open(const DatabaseOptions& options,
                                                       OpenMode mode, base::Logger& log,
                                                       const base::Clock& clock) {
  const auto whole = CheckTail(options.directory, mode, log, clock);
  if (!whole) return tl::unexpected(whole.error());

  rocksdb::DBOptions db_options = MakeDbOptions(options, mode, log);
  // This mode stops at the torn end. The other mode would fail there.
  if (!*whole) db_options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  const auto families = MakeFamilies(options);
  std::unique_ptr<Database> database(new Database());
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const rocksdb::Status status =
      mode == OpenMode::kReadOnly
          ? rocksdb::DB::OpenForReadOnly(db_options, options.directory, families, &handles,
                                         &database->db_)
          : rocksdb::DB::Open(db_options, options.directory, families, &handles, &database->db_);
  if (!status.ok()) return tl::unexpected(DatabaseError("open", options.directory, status));
  std::copy(handles.begin(), handles.end(), database->handles_.begin());
  return database;
}

Database::~Database() {
  if (db_ == nullptr) return;
  for (rocksdb::ColumnFamilyHandle* handle : handles_) {
    static_cast<void>(db_->DestroyColumnFamilyHandle(handle));
  }
  // The write that failed has reported any error already, and nothing can be done here.
  static_cast<void>(db_->Close());
  delete db_;
}

rocksdb::Status Database::RewriteAll() {
  const std::vector<rocksdb::ColumnFamilyHandle*> all(handles_.begin(), handles_.end());
  // Opening has flushed the contents of the logs. This flushes what it may have left in memory.
  const rocksdb::Status flushed = db_->Flush(rocksdb::FlushOptions(), all);
  return flushed.ok() ? db_->SyncWAL() : flushed;
}

}  // namespace berth::store::rocks
