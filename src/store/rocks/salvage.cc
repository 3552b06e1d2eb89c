#include "store/rocks/salvage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <rocksdb/iterator.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/fd.h"
#include "store/rocks/data_dir.h"
#include "store/rocks/database.h"
#include "store/rocks/loading.h"
#include "store/rocks/rocks_layout.h"
#include "store/rocks/versions.h"

namespace berth::store::rocks {
namespace {

using base::Fd;

using base::Reason;

base::Result<std::unique_ptr<DirLock>> LockStore(const std::string& directory,
                                                 const base::Clock& clock) {
  const auto there = HoldsStore(directory);
  if (!there) return tl::unexpected(there.error());
  if (!*there) {
    return base::Fail(Reason::kNotFound, fmt::format("there is no store in {}", directory));
  }
  return DirLock::Take(directory, clock);
}

std::filesystem::path NotePath(const std::string& directory) {
  return std::filesystem::path(directory) / kSalvagingFile;
}

base::Result<Damage> Inspect(const std::string& directory) {
  auto bad = CheckLogs(directory);
  if (!bad) return tl::unexpected(bad.error());
  std::error_code error;
  return Damage{.bad = *std::move(bad),
                .interrupted = std::filesystem::exists(NotePath(directory), error)};
}

tl::unexpected<base::Error> NoteProblem(const std::string& directory, int error) {
  return base::Fail(Reason::kServiceUnavailable,
                    fmt::format("cannot note the salvage in {}: {}", directory,
                                std::error_code(error, std::generic_category()).message()));
}

/// Creates or deletes the note durably.
base::Result<void> SetNote(const std::string& directory, bool there) {
  const std::string note = NotePath(directory).string();
  if (there) {
    const Fd file(open(note.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (file.Get() < 0 || fsync(file.Get()) != 0) return NoteProblem(directory, errno);
  } else if (unlink(note.c_str()) != 0) {
    return NoteProblem(directory, errno);
  }
  const Fd folder(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.Get() < 0 || fsync(folder.Get()) != 0) return NoteProblem(directory, errno);
  return {};
}

/// Brings a database whose log was cut into a state that the engine can use.
class Mender {
 public:
  explicit Mender(const Database& database) : database_(database) {}

  /// Raises `last` to the revision of the newest version. RocksDB writes its families to tables one
  /// by one, so after the cut the versions may reach further than the revision log.
  rocksdb::Status FindLast(Revision& last) const {
    return ForEachVersion([&last](const VersionName& name, const Version&, bool) {
      last = std::max(last, name.revision);
      return rocksdb::Status::OK();
    });
  }

  /// Gives up history up to `raised`, so that new revisions lie above it. Durable on return.
  rocksdb::Status Raise(Revision raised) {
    const Number number = EncodeRevision(raised);
    batch_.Put(database_.Handle(Family::kNotes), std::string(kCompactedNote), View(number));
    return Write(/*sync=*/true);
  }

  /// Deletes all versions except the newest of each key, which is all that a store without history
  /// needs. Deletes the revision log, since it may name versions that are lost. Rebuilds the
  /// deadlines, since some may be missing.
  rocksdb::Status DropHistory() {
    rocksdb::ColumnFamilyHandle* expiry = database_.Handle(Family::kExpiry);
    batch_.DeleteRange(database_.Handle(Family::kLog), "", kBehindAll);
    batch_.DeleteRange(expiry, "", kBehindAll);
    const rocksdb::Status status = ForEachVersion([&](const VersionName& name,
                                                      const Version& version, bool newest) {
      if (!newest || version.op == Op::kDelete) {
        batch_.Delete(database_.Handle(Family::kData), DataKey(name.key, name.revision));
      } else if (version.deadline != 0) {
        const Number revision = EncodeRevision(name.revision);
        batch_.Put(expiry, ExpiryKey({.at = version.deadline, .key = name.key}), View(revision));
      }
      return batch_.Count() < kBatchRows ? rocksdb::Status::OK() : Write(/*sync=*/false);
    });
    return status.ok() ? Write(/*sync=*/true) : status;
  }

 private:
  static constexpr int kBatchRows = 1000;
  /// Sorts after every key of these families, because those begin with a positive number.
  static constexpr const char* kBehindAll = "\xff";

  template <typename Visit>
  rocksdb::Status ForEachVersion(Visit visit) const {
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    const std::unique_ptr<rocksdb::Iterator> rows(
        database_.Db().NewIterator(options, database_.Handle(Family::kData)));
    std::string previous;
    for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
      const auto name = DecodeDataKey(ViewOf(rows->key()));
      const auto version = DecodeVersion(ViewOf(rows->value()));
      if (!name || !version) return rocksdb::Status::Corruption("a version cannot be read");
      const rocksdb::Status status = visit(*name, *version, name->key != previous);
      if (!status.ok()) return status;
      previous = name->key;
    }
    return rows->status();
  }

  rocksdb::Status Write(bool sync) {
    rocksdb::WriteOptions options;
    options.sync = sync;
    const rocksdb::Status status = database_.Db().Write(options, &batch_);
    batch_.Clear();
    return status;
  }

  const Database& database_;
  rocksdb::WriteBatch batch_;
};

base::Result<void> Mend(const std::string& directory, base::Logger& log, const base::Clock& clock,
                        Salvaged& salvaged) {
  const DatabaseOptions options{.directory = directory,
                                .cache_bytes = size_t{8} << 20,
                                .write_buffer_bytes = size_t{16} << 20,
                                .on_background_error = {}};
  const auto database = Database::Open(options, OpenMode::kExisting, log, clock);
  if (!database) return tl::unexpected(database.error());
  const auto state = ReadNotes(directory, **database);
  if (!state) return tl::unexpected(state.error());
  salvaged.last = state->last;
  Mender mender(**database);
  rocksdb::Status status = mender.FindLast(salvaged.last);
  salvaged.raised = {salvaged.last.value + kSalvageRaise};
  if (status.ok()) status = mender.Raise(salvaged.raised);
  if (status.ok()) status = mender.DropHistory();
  // Flushes everything into tables, because the remaining log is the one that was damaged.
  if (status.ok()) status = (*database)->RewriteAll();
  if (status.ok()) return {};
  return tl::unexpected(DatabaseError("repair", directory, status));
}

}  // namespace

base::Result<Damage> InspectDamage(const std::string& directory, const base::Clock& clock) {
  const auto lock = LockStore(directory, clock);
  if (!lock) return tl::unexpected(lock.error());
  return Inspect(directory);
}

base::Result<Salvaged> Salvage(const std::string& directory, base::Logger& log,
                               const base::Clock& clock) {
  const auto lock = LockStore(directory, clock);
  if (!lock) return tl::unexpected(lock.error());
  const auto damage = Inspect(directory);
  if (!damage) return tl::unexpected(damage.error());
  Salvaged salvaged;
  if (auto noted = SetNote(directory, true); !noted) return tl::unexpected(noted.error());
  if (damage->bad) {
    auto copy = CutLog(directory, *damage->bad, FolderTime(clock));
    if (!copy) return tl::unexpected(copy.error());
    salvaged.copy = *std::move(copy);
  }
  if (auto mended = Mend(directory, log, clock, salvaged); !mended) {
    return tl::unexpected(mended.error());
  }
  if (auto gone = SetNote(directory, false); !gone) return tl::unexpected(gone.error());
  return salvaged;
}

}  // namespace berth::store::rocks
