#include "store/rocks/rocks_engine.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/random.h"
#include "store/check.h"
#include "store/event_ring.h"
#include "store/rocks/data_dir.h"
#include "store/rocks/database.h"
#include "store/rocks/database_gate.h"
#include "store/rocks/disk_guard.h"
#include "store/rocks/key_index.h"
#include "store/rocks/loading.h"
#include "store/rocks/rocks_committer.h"
#include "store/rocks/rocks_housekeeper.h"
#include "store/rocks/rocks_reader.h"
#include "store/rocks/salvage.h"
#include "store/rocks/samples.h"
#include "store/rocks/seams.h"

namespace berth::store::rocks {
namespace {

using base::Reason;

base::Error ReadOnlyError(const std::string& directory) {
  return {.reason = Reason::kServiceUnavailable,
          .message = fmt::format("the store in {} is open read-only", directory)};
}

tl::unexpected<base::Error> FailNoStore(const std::string& directory) {
  return base::Fail(Reason::kNotFound, fmt::format("there is no store in {}", directory));
}

KeyHashSeed RandomSeed() {
  base::SeededRandom random = base::SeededRandom::FromKernel();
  const uint64_t k0 = random.Next();
  return {.k0 = k0, .k1 = random.Next()};
}

/// Passes errors of RocksDB's flushes and compactions to the committer. Keeps the first one until
/// the committer exists.
class BackgroundErrors {
 public:
  void Report(const rocksdb::Status& status) {
    base::MutexLock lock(mutex_);
    if (committer_ != nullptr) {
      committer_->NoteBackgroundError(status);
    } else if (!early_) {
      early_ = status;
    }
  }
  void PassOnTo(Committer* committer) {
    base::MutexLock lock(mutex_);
    committer_ = committer;
    if (committer_ != nullptr && early_) committer_->NoteBackgroundError(*early_);
  }

 private:
  base::Mutex mutex_;
  Committer* committer_ GUARDED_BY(mutex_) = nullptr;
  std::optional<rocksdb::Status> early_ GUARDED_BY(mutex_);
};

/// Everything that is opened and read before the engine begins to work.
struct Opened {
  std::unique_ptr<DirLock> lock = {};
  std::shared_ptr<BackgroundErrors> errors = std::make_shared<BackgroundErrors>();
  DatabaseOptions database_options = {};
  std::unique_ptr<Database> database = {};
  std::unique_ptr<KeyIndex> index = std::make_unique<KeyIndex>(RandomSeed());
  LoadedState state = {};
};

class Rocks final : public RocksEngine {
 public:
  Rocks(RocksOptions options, const Seams& seams, Opened opened, base::Logger& log,
        const base::Clock& clock);
  ~Rocks() override;

  void Get(std::string key, Done<std::optional<Entry>> done) override;
  void Scan(ScanRequest request, Done<ScanPage> done) override;
  void Commit(Txn txn, std::function<void(TxnReply)> done) override;
  std::unique_ptr<Watch> Follow(Revision after, std::function<void()> wake) override {
    return ring_.Follow(after, std::move(wake));
  }
  base::Result<WatchBatch> ReadHistory(const HistoryRequest& request) override {
    return reader_.ReadHistory(request);
  }
  void Current(Done<Revision> done) override { done(index_->Published()); }
  void RequestProgress() override {
    if (committer_) committer_->WakeWatches();
  }
  void Compact(Revision upto, Done<void> done) override;
  Health GetHealth() const override;
  Revision Compacted() const override { return horizon_.Get(); }
  size_t KeyCount() const override { return index_->Size(); }

 private:
  const RocksOptions options_;
  const std::unique_ptr<DirLock> lock_;
  const std::shared_ptr<BackgroundErrors> errors_;
  const std::unique_ptr<KeyIndex> index_;
  DatabaseGate gate_;
  Horizon horizon_;
  Reader reader_;
  EventRing ring_;
  DiskGuard disk_;
  // Not set if the store is open read-only.
  std::optional<Committer> committer_;
  std::optional<Housekeeper> housekeeper_;
};

Rocks::Rocks(RocksOptions options, const Seams& seams, Opened opened, base::Logger& log,
             const base::Clock& clock)
    : options_(std::move(options)),
      lock_(std::move(opened.lock)),
      errors_(std::move(opened.errors)),
      index_(std::move(opened.index)),
      gate_(std::move(opened.database)),
      reader_(options_.directory, gate_, *index_, horizon_, clock),
      ring_(opened.state.last, options_.ring_bytes, &reader_),
      disk_(options_.directory, options_.min_free_bytes, seams.free_bytes) {
  horizon_.Raise(opened.state.compacted);
  ring_.SetCompacted(opened.state.compacted);
  if (options_.read_only) return;
  committer_.emplace(Committer::Options{.database = std::move(opened.database_options),
                                        .sync = options_.sync,
                                        .max_waiting = options_.max_waiting,
                                        .metrics = options_.metrics,
                                        .retry = seams.retry,
                                        .history_step = options_.history_bytes / 32,
                                        .on_history_step = [this] { housekeeper_->NoteHistory(); }},
                     Committer::Parts{.gate = gate_,
                                      .index = *index_,
                                      .horizon = horizon_,
                                      .ring = ring_,
                                      .disk = disk_,
                                      .log = log,
                                      .clock = clock},
                     opened.state.last, opened.state.history_bytes);
  errors_->PassOnTo(&*committer_);
  housekeeper_.emplace(Housekeeper::Parts{.gate = gate_,
                                          .index = *index_,
                                          .horizon = horizon_,
                                          .committer = *committer_,
                                          .ring = ring_,
                                          .log = log,
                                          .clock = clock},
                       Samples(options_.history_age, options_.history_bytes, opened.state.samples,
                               opened.state.compacted),
                       seams.housekeeping);
  housekeeper_->Start();
}

Rocks::~Rocks() {
  // The committer stops first, because it settles the writes that the housekeeper waits for.
  if (committer_) committer_->Stop();
  if (housekeeper_) housekeeper_->Stop();
  errors_->PassOnTo(nullptr);
  gate_.Shut({.reason = Reason::kServiceUnavailable, .message = "the store is being closed"});
}

void Rocks::Get(std::string key, Done<std::optional<Entry>> done) {
  if (auto broken = CheckKey(key)) {
    done(tl::unexpected(std::move(*broken)));
    return;
  }
  done(reader_.Get(std::move(key)));
}

void Rocks::Scan(ScanRequest request, Done<ScanPage> done) {
  if (auto broken = CheckScan(request)) {
    done(tl::unexpected(std::move(*broken)));
    return;
  }
  done(reader_.Scan(request));
}

void Rocks::Commit(Txn txn, std::function<void(TxnReply)> done) {
  if (!committer_) {
    done(TxnReply{.outcome = Outcome::kRefused, .error = ReadOnlyError(options_.directory)});
    return;
  }
  committer_->Commit(std::move(txn), std::move(done));
}

void Rocks::Compact(Revision upto, Done<void> done) {
  const Revision published = index_->Published();
  if (upto > published) {
    done(tl::unexpected(FutureError(upto, published)));
  } else if (upto <= horizon_.Get()) {
    done({});
  } else if (!committer_) {
    done(tl::unexpected(ReadOnlyError(options_.directory)));
  } else {
    committer_->RaiseHorizon(upto, {}, [this, done = std::move(done)](base::Result<void> raised) {
      if (raised) housekeeper_->Poke();
      done(std::move(raised));
    });
  }
}

Health Rocks::GetHealth() const {
  if (committer_) return committer_->GetHealth();
  return Health{.writable = false, .why = ReadOnlyError(options_.directory).message};
}

base::Result<std::unique_ptr<Database>> OpenDatabase(const RocksOptions& options,
                                                     const DatabaseOptions& database_options,
                                                     base::Logger& log, const base::Clock& clock) {
  const auto there = HoldsStore(options.directory);
  if (!there) return tl::unexpected(there.error());
  const OpenMode mode = options.read_only ? OpenMode::kReadOnly
                        : *there          ? OpenMode::kExisting
                                          : OpenMode::kCreate;
  auto database = Database::Open(database_options, mode, log, clock);
  if (!database) return database;
  const auto noted = HasNotes(options.directory, **database);
  if (!noted) return tl::unexpected(noted.error());
  if (*noted) return database;
  if (options.read_only || !options.create) return FailNoStore(options.directory);
  if (auto made = MakeStore(options.directory, **database, options.base); !made) {
    return tl::unexpected(std::move(made.error()));
  }
  return database;
}

DatabaseOptions MakeDatabaseOptions(const RocksOptions& options, const Seams& seams,
                                    const std::shared_ptr<BackgroundErrors>& errors) {
  DatabaseOptions database;
  database.directory = options.directory;
  database.cache_bytes = options.cache_bytes;
  database.write_buffer_bytes = options.write_buffer_bytes;
  database.env = seams.env;
  database.on_background_error = [errors](const rocksdb::Status& status) {
    errors->Report(status);
  };
  return database;
}

/// Opens and reads the store. This is everything about opening that can fail.
base::Result<Opened> OpenAll(const RocksOptions& options, const Seams& seams, base::Logger& log,
                             const base::Clock& clock) {
  // This comes before the lock, which would create the directory or put a file into it.
  const auto there = HoldsStore(options.directory);
  if (!there) return tl::unexpected(there.error());
  if (!*there && (options.read_only || !options.create)) return FailNoStore(options.directory);
  auto lock = DirLock::Take(options.directory, clock);
  if (!lock) return tl::unexpected(std::move(lock.error()));
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::path(options.directory) / kSalvagingFile, ignored)) {
    return base::Fail(Reason::kInternalError,
                      fmt::format("the store in {} was being salvaged, and that was interrupted: "
                                  "do it again (berth salvage)",
                                  options.directory));
  }
  Opened opened;
  opened.lock = std::move(*lock);
  opened.database_options = MakeDatabaseOptions(options, seams, opened.errors);
  auto database = OpenDatabase(options, opened.database_options, log, clock);
  if (!database) return tl::unexpected(std::move(database.error()));
  opened.database = std::move(*database);
  auto state = ReadNotes(options.directory, *opened.database);
  if (!state) return tl::unexpected(std::move(state.error()));
  opened.state = std::move(*state);
  auto loaded = LoadIndex(options.directory, *opened.database, opened.state, *opened.index);
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  return opened;
}

}  // namespace

base::Result<std::unique_ptr<RocksEngine>> OpenWith(const RocksOptions& options, const Seams& seams,
                                                    base::Logger& log, const base::Clock& clock) {
  auto opened = OpenAll(options, seams, log, clock);
  if (!opened) return tl::unexpected(std::move(opened.error()));
  return std::make_unique<Rocks>(options, seams, std::move(*opened), log, clock);
}

base::Result<std::unique_ptr<RocksEngine>> RocksEngine::Open(const RocksOptions& options,
                                                             base::Logger& log,
                                                             const base::Clock& clock) {
  return OpenWith(options, Seams{}, log, clock);
}

}  // namespace berth::store::rocks
