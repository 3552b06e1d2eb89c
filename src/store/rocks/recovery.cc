// What the committer does after a failed write: it learns the outcome of the write and goes on.
#include <fmt/format.h>

#include <utility>

#include "store/rocks/rocks_committer.h"
#include "store/rocks/rocks_layout.h"

namespace berth::store::rocks {
namespace {

using std::chrono::steady_clock;

base::Error NothingKept(const base::Error& why) {
  return {.reason = why.reason,
          .message = fmt::format("{}; nothing of this write was kept", why.message)};
}

base::Error NotKnown(const base::Error& why) {
  return {.reason = why.reason,
          .message = fmt::format("{}; the store was closed before it could find out whether this "
                                 "write was kept",
                                 why.message)};
}

base::Error ReadsAlone(const base::Error& why) {
  return {.reason = base::Reason::kServiceUnavailable,
          .message = fmt::format(
              "{}; until this is fixed the store takes no writes, but reads go on", why.message)};
}

}  // namespace

/// Reopens the database after a failure and settles the group, which may be empty.
void Committer::Recover(const rocksdb::Status& status) {
  const base::Error why = DatabaseError("write to", options_.database.directory, status);
  parts_.log.Error("a write failed: opening the store again", {{"error", why.message}});
  // A chore may be repeated, so its caller need not wait for the outcome.
  FailChore(why);
  SetTrouble(why, false);
  // No seal is due any more: once the database is writable again, it has a new log.
  unsealed_ = false;
  // If each attempt works and the next write fails again, there is at most one attempt a second.
  bool go_on = !recovered_ || steady_clock::now() - *recovered_ >= options_.retry || WaitForRetry();
  base::Result<bool> kept = false;
  while (go_on) {
    kept = Reopen();
    if (kept) break;
    ServeReadsAlone(kept.error());
    go_on = WaitForRetry();
  }
  if (!go_on) {
    group_.LeaveOpen(NotKnown(why));
    return;
  }
  recovered_ = steady_clock::now();
  if (status.IsCorruption()) {
    // A flush or compaction that found damage would find it again.
    SetTrouble(ReadsAlone(why), true);
  } else {
    SetTrouble(std::nullopt, false);
    parts_.log.Info("the store takes writes again", {{"kept", *kept}});
  }
  if (*kept) {
    Publish();
    group_.Reply();
  } else {
    group_.Refuse(NothingKept(why));
  }
}

/// Closes and opens the database. Returns whether it holds the group.
base::Result<bool> Committer::Reopen() {
  parts_.gate.Close();
  {
    base::MutexLock lock(mutex_);
    background_error_.reset();
  }
  auto opened = Database::Open(options_.database, OpenMode::kExisting, parts_.log, parts_.clock);
  if (!opened) return tl::unexpected(std::move(opened.error()));
  Database& database = **opened;
  const auto failed = [this](std::string_view doing, const rocksdb::Status& status) {
    return tl::unexpected(DatabaseError(doing, options_.database.directory, status));
  };
  if (const auto status = database.RewriteAll(); !status.ok()) return failed("write to", status);

  std::string record;
  const Number first = EncodeRevision(group_.First());
  const auto found = database.Db().Get(rocksdb::ReadOptions(), database.Handle(Family::kLog),
                                       View(first), &record);
  if (!found.ok() && !found.IsNotFound()) return failed("read", found);
  if (found.ok() && record != group_.LogBytes()) {
    return failed("read", rocksdb::Status::Corruption("a log record is not the one written"));
  }
  std::string compacted;
  const auto noted = database.Db().Get(rocksdb::ReadOptions(), database.Handle(Family::kNotes),
                                       std::string(kCompactedNote), &compacted);
  if (!noted.ok()) return failed("read", noted);
  // A chore that gave up history may have been written although it seemed to fail.
  if (const auto upto = DecodeRevision(compacted)) {
    parts_.horizon.Raise(*upto);
    parts_.ring.SetCompacted(*upto);
  }
  parts_.gate.Open(std::move(*opened));
  return found.ok();
}

void Committer::ServeReadsAlone(const base::Error& why) {
  const base::Error error = ReadsAlone(why);
  const auto trouble = Trouble();
  if (!trouble || trouble->message != error.message) {
    parts_.log.Error("the store serves only reads", {{"error", error.message}});
  }
  auto readable = Database::Open(options_.database, OpenMode::kReadOnly, parts_.log, parts_.clock);
  if (readable) {
    parts_.gate.Open(std::move(*readable));
  } else {
    parts_.gate.Fail(readable.error());
  }
  SetTrouble(error, true);
  RefuseAll(error);
}

/// Waits until the next attempt. Returns false when it is time to stop.
bool Committer::WaitForRetry() {
  const auto until = steady_clock::now() + options_.retry;
  base::MutexLock lock(mutex_);
  for (auto now = steady_clock::now(); !stop_ && now < until; now = steady_clock::now()) {
    work_.WaitFor(mutex_, until - now);
  }
  return !stop_;
}

void Committer::SetTrouble(std::optional<base::Error> error, bool refusing) {
  base::MutexLock lock(mutex_);
  trouble_ = std::move(error);
  refusing_ = refusing;
}

std::optional<base::Error> Committer::Trouble() const {
  base::MutexLock lock(mutex_);
  return trouble_;
}

}  // namespace berth::store::rocks
