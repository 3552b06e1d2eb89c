#include "store/rocks/rocks_housekeeper.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "store/blocking.h"
#include "store/rocks/rocks_layout.h"
#include "store/rocks/versions.h"

namespace berth::store::rocks {
namespace {

/// A piece is written with a commit group and must not delay the group for long.
constexpr size_t kPieceRows = 500;
constexpr size_t kPieceEvents = 20'000;

/// The number of due keys that are read and deleted at a time.
constexpr size_t kDueKeys = 1000;

/// Bounds the samples between two turns. There are more only if the thread is delayed for long.
constexpr size_t kMostNoted = 256;

constexpr size_t kRestingRingBytes = size_t{256} << 10;
constexpr uint64_t kWorthAFlush = uint64_t{2} << 20;

}  // namespace

Housekeeper::Housekeeper(const Parts& parts, Samples samples, std::chrono::milliseconds every)
    : parts_(parts), every_(every), samples_(std::move(samples)) {}

void Housekeeper::Poke() {
  base::MutexLock lock(mutex_);
  poked_ = true;
  wake_.NotifyOne();
}

void Housekeeper::NoteHistory() {
  const Sample now = Now();
  base::MutexLock lock(mutex_);
  if (noted_.size() < kMostNoted) noted_.push_back(now);
  poked_ = true;
  wake_.NotifyOne();
}

void Housekeeper::Stop() {
  {
    base::MutexLock lock(mutex_);
    stop_ = true;
    wake_.NotifyOne();
  }
  if (thread_.joinable()) thread_.join();
}

bool Housekeeper::IsStopping() const {
  base::MutexLock lock(mutex_);
  return stop_;
}

void Housekeeper::Run() {
  while (WaitForTurn()) {
    const Sample now = Now();
    TakeSamples(now);
    GiveUp(now);
    Purge();
    Expire();
    Rest(now.revision);
  }
}

/// Waits for the next turn. Returns false when it is time to stop.
bool Housekeeper::WaitForTurn() {
  base::MutexLock lock(mutex_);
  if (!poked_ && !stop_) wake_.WaitFor(mutex_, every_);
  poked_ = false;
  return !stop_;
}

/// Writes the chore with the next group and waits for it. Returns false if that failed or was
/// refused.
bool Housekeeper::DoNow(Fill fill) {
  Awaited<base::Result<void>> written;
  Chore chore{.fill = std::move(fill), .done = written.Setter()};
  parts_.committer.Do(std::move(chore));
  return written.Wait().has_value();
}

// History.

Sample Housekeeper::Now() const {
  return {.time = NowMillis(parts_.clock),
          .revision = parts_.index.Published(),
          .bytes = parts_.committer.HistoryBytes(),
          .keys = parts_.index.Size()};
}

/// Adds the samples that were noted since the last turn, then the sample `now`, as far as they are
/// due.
void Housekeeper::TakeSamples(const Sample& now) {
  std::vector<Sample> noted;
  {
    base::MutexLock lock(mutex_);
    noted.swap(noted_);
  }
  noted.push_back(now);
  std::vector<Sample> taken;
  for (const Sample& sample : noted) {
    if (samples_.IsDue(sample)) taken.push_back(samples_.Add(sample));
  }
  if (taken.empty()) return;
  // If they are not written, the store keeps a little more history than necessary after a restart.
  DoNow([taken = std::move(taken)](const Database& database, rocksdb::WriteBatch& batch) {
    for (const Sample& sample : taken) {
      batch.Put(database.Handle(Family::kNotes), SampleKey(sample.time), EncodeSample(sample));
    }
  });
}

void Housekeeper::GiveUp(const Sample& now) {
  const Revision upto = samples_.GiveUp(now);
  if (upto <= parts_.horizon.Get()) return;
  const int64_t first = samples_.Forget(upto);
  Awaited<base::Result<void>> raised;
  parts_.committer.RaiseHorizon(
      upto,
      [first](const Database& database, rocksdb::WriteBatch& batch) {
        batch.DeleteRange(database.Handle(Family::kNotes), SampleKey(0), SampleKey(first));
      },
      raised.Setter());
  static_cast<void>(raised.Wait());
}

/// Rows that only past states needed.
struct Housekeeper::Piece {
  std::vector<std::string> versions = {};
  Revision upto = {};     // Covers events up to here, together with the pieces before it.
  Revision log_end = {};  // Log records before this revision are useless. 0 means not known.
};

void Housekeeper::Purge() {
  while (purged_ < parts_.horizon.Get() && !IsStopping()) {
    auto piece = FindPiece(parts_.horizon.Get());
    if (!piece) {
      parts_.log.Warn("cannot delete old versions", {{"error", piece.error().message}});
      return;
    }
    const Revision upto = piece->upto;
    const bool nothing = piece->versions.empty() && !piece->log_end;
    if (!nothing && !Delete(std::move(*piece))) return;
    purged_ = upto;
  }
}

bool Housekeeper::Delete(Piece piece) {
  return DoNow([piece = std::move(piece)](const Database& database, rocksdb::WriteBatch& batch) {
    for (const std::string& version : piece.versions) {
      batch.Delete(database.Handle(Family::kData), version);
    }
    const Number begin = EncodeRevision({});
    const Number end = EncodeRevision(piece.log_end);
    batch.DeleteRange(database.Handle(Family::kLog), View(begin), View(end));
  });
}

/// Returns the next rows to delete, for events after `purged_` up to `upto`.
base::Result<Housekeeper::Piece> Housekeeper::FindPiece(Revision upto) const {
  const auto loan = parts_.gate.Borrow();
  if (!loan) return tl::unexpected(loan.error());
  const std::unique_ptr<rocksdb::Iterator> rows(
      (*loan)->Db().NewIterator(rocksdb::ReadOptions(), (*loan)->Handle(Family::kLog)));
  const Number from = EncodeRevision({purged_.value + 1});
  rows->SeekForPrev(View(from));
  if (rows->status().ok() && !rows->Valid()) rows->SeekToFirst();
  Piece piece{.upto = purged_};
  size_t events = 0;
  for (; rows->Valid(); rows->Next()) {
    LogRecord record(DecodeRevision(ViewOf(rows->key())).value_or(Revision{}),
                     ViewOf(rows->value()));
    while (!record.AtEnd()) {
      const Revision revision = record.NextRevision();
      if (revision > upto) {
        piece.upto = upto;
        return piece;
      }
      if (piece.versions.size() >= kPieceRows || events >= kPieceEvents) return piece;
      const auto event = record.Take();
      if (!event) return base::Fail(base::Reason::kInternalError, "a log record cannot be read");
      if (revision <= purged_) continue;
      ++events;
      piece.upto = revision;
      if (event->previous) piece.versions.push_back(DataKey(event->key, event->previous));
      // The key does not exist in the state at the horizon, with or without a row for the delete.
      if (event->op == Op::kDelete) piece.versions.push_back(DataKey(event->key, revision));
    }
    piece.log_end = record.NextRevision();
  }
  if (!rows->status().ok()) {
    return base::Fail(base::Reason::kServiceUnavailable, rows->status().ToString());
  }
  piece.upto = upto;
  return piece;
}

// Memory.

/// Releases memory if there was no write since the last turn. Write buffers are flushed to files,
/// except small ones, which are not worth a file. The ring is shrunk, since history has all its
/// events.
void Housekeeper::Rest(Revision now) {
  const bool quiet = now == std::exchange(seen_, now);
  if (!quiet || rested_ == now) return;
  rested_ = now;
  parts_.ring.Shrink(kRestingRingBytes);
  const auto loan = parts_.gate.Borrow();
  if (!loan) return;
  for (const Family family : {Family::kData, Family::kLog}) {
    uint64_t bytes = 0;
    rocksdb::ColumnFamilyHandle* const handle = (*loan)->Handle(family);
    (*loan)->Db().GetIntProperty(handle, rocksdb::DB::Properties::kCurSizeActiveMemTable, &bytes);
    if (bytes < kWorthAFlush) continue;
    rocksdb::FlushOptions beside;
    beside.wait = false;
    const rocksdb::Status status = (*loan)->Db().Flush(beside, handle);
    if (!status.ok()) parts_.log.Warn("cannot flush", {{"error", status.ToString()}});
  }
}

// Expiry.

struct Housekeeper::DueKey {
  std::string row;
  std::string key;
  Revision revision;
};

void Housekeeper::Expire() {
  while (!IsStopping()) {
    const auto due = FindDue(NowMillis(parts_.clock));
    if (!due) {
      parts_.log.Warn("cannot look for expired keys", {{"error", due.error().message}});
      return;
    }
    if (due->empty() || !DeleteKeys(*due)) return;
  }
}

base::Result<std::vector<Housekeeper::DueKey>> Housekeeper::FindDue(int64_t now) const {
  const auto loan = parts_.gate.Borrow();
  if (!loan) return tl::unexpected(loan.error());
  const std::unique_ptr<rocksdb::Iterator> rows(
      (*loan)->Db().NewIterator(rocksdb::ReadOptions(), (*loan)->Handle(Family::kExpiry)));
  std::vector<DueKey> due;
  for (rows->SeekToFirst(); rows->Valid() && due.size() < kDueKeys; rows->Next()) {
    const auto deadline = DecodeExpiryKey(ViewOf(rows->key()));
    const auto revision = DecodeRevision(ViewOf(rows->value()));
    if (!deadline || !revision) {
      return base::Fail(base::Reason::kInternalError, "a row of deadlines cannot be read");
    }
    if (deadline->at > now) break;
    due.push_back(
        {.row = rows->key().ToString(), .key = std::string(deadline->key), .revision = *revision});
  }
  if (!rows->status().ok()) {
    return base::Fail(base::Reason::kServiceUnavailable, rows->status().ToString());
  }
  return due;
}

/// Deletes each key in a transaction of its own, since a key may have been put again meanwhile.
/// Returns false if some keys could not be deleted.
bool Housekeeper::DeleteKeys(const std::vector<DueKey>& due) {
  std::vector<Awaited<TxnReply>> replies(due.size());
  for (size_t i = 0; i < due.size(); ++i) {
    Txn txn;
    txn.compares.push_back({.key = due[i].key, .revision = due[i].revision});
    txn.deletes.push_back(due[i].key);
    parts_.committer.Commit(std::move(txn), replies[i].Setter());
  }
  std::vector<std::string> stale;
  bool all = true;
  for (size_t i = 0; i < due.size(); ++i) {
    const Outcome outcome = replies[i].Wait().outcome;
    if (outcome == Outcome::kConflict) stale.push_back(due[i].row);
    if (outcome == Outcome::kRefused || outcome == Outcome::kUnknown) all = false;
  }
  return (stale.empty() || DropStale(std::move(stale))) && all;
}

/// Deletes rows whose key has been put or deleted since they were read. Usually they do not exist
/// any more, because a write deletes the expiry row of the put that it replaces.
bool Housekeeper::DropStale(std::vector<std::string> rows) {
  return DoNow(
      [this, rows = std::move(rows)](const Database& database, rocksdb::WriteBatch& batch) {
        rocksdb::ColumnFamilyHandle* expiry = database.Handle(Family::kExpiry);
        for (const std::string& row : rows) {
          std::string bytes;
          const auto status = database.Db().Get(rocksdb::ReadOptions(), expiry, row, &bytes);
          const auto revision = DecodeRevision(bytes);
          const KeyHash key = parts_.index.Hash(DecodeExpiryKey(row)->key);
          if (status.ok() && parts_.index.Find(key) != revision) batch.Delete(expiry, row);
        }
      });
}

}  // namespace berth::store::rocks
