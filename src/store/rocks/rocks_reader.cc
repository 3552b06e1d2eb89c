#include "store/rocks/rocks_reader.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "store/check.h"
#include "store/rocks/rocks_layout.h"
#include "store/rocks/versions.h"

namespace berth::store::rocks {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Bounds of one read from history. After that it returns its progress.
constexpr size_t kHistoryEvents = 20'000;
constexpr size_t kHistoryBytes = size_t{4} << 20;

}  // namespace

tl::unexpected<base::Error> Reader::Failed(const rocksdb::Status& status) const {
  return tl::unexpected(DatabaseError("read", directory_, status));
}

base::Result<std::optional<Entry>> Reader::Get(std::string key) const {
  const KeyHash hash = index_.Hash(key);
  const auto loan = gate_.Borrow();
  if (!loan) return tl::unexpected(loan.error());
  Revision tried;
  while (true) {
    const Revision revision = index_.Find(hash);
    if (!revision) return std::nullopt;
    StoredVersion version;
    const rocksdb::Status status = ReadVersion(**loan, key, revision, nullptr, version);
    if (status.ok()) {
      return Entry{.key = std::move(key), .value = std::move(version.value), .revision = revision};
    }
    // The version may have been overwritten and compacted since the index was read. Then the index
    // has a newer revision by now.
    if (!status.IsNotFound()) return Failed(status);
    if (revision == tried) return Failed(rocksdb::Status::Corruption("a version is missing", key));
    tried = revision;
  }
}

base::Result<ScanPage> Reader::Scan(const ScanRequest& request) const {
  const auto loan = gate_.Borrow();
  if (!loan) return tl::unexpected(loan.error());
  const Revision published = index_.Published();
  if (request.at > published) return tl::unexpected(FutureError(request.at, published));
  ScanPage page{.at = request.at ? request.at : published};
  StateCursor cursor(**loan, {.prefix = request.prefix, .after = request.after, .at = page.at});
  // The cursor's view is fixed by now. If nothing that it needs was given up yet, it has all of it.
  const Revision compacted = horizon_.Get();
  if (page.at < compacted) return tl::unexpected(CompactedError(page.at, compacted));

  const int64_t now = NowMillis(clock_);
  size_t bytes = 0;
  for (; cursor.Valid(); cursor.Next()) {
    const Version& version = cursor.Current();
    bytes += cursor.Key().size() + (request.keys_only ? 0 : version.value.size());
    const bool full = bytes > kMaxPageBytes && !page.entries.empty();
    if (full || page.entries.size() == request.limit) {
      page.more = true;
      break;
    }
    Entry& entry = page.entries.emplace_back();
    entry.key = cursor.Key();
    entry.revision = cursor.LastPut();
    if (!request.keys_only) entry.value = version.value;
    if (request.with_ttl && version.deadline != 0) {
      entry.ttl =
          std::max(std::chrono::ceil<seconds>(milliseconds(version.deadline - now)), seconds{0});
    }
  }
  if (!cursor.Error().ok()) return Failed(cursor.Error());
  return page;
}

/// One read from history. It walks the log and collects the events that match.
class Reader::HistoryWalk {
 public:
  HistoryWalk(const Database& database, const HistoryRequest& request)
      : database_(database), request_(request), snapshot_(&database.Db()) {
    batch_.progress = request.after;
  }

  rocksdb::Status Run() {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot_.snapshot();
    const std::unique_ptr<rocksdb::Iterator> rows(
        database_.Db().NewIterator(options, database_.Handle(Family::kLog)));
    const Number from = EncodeRevision({request_.after.value + 1});
    rows->SeekForPrev(View(from));
    if (rows->status().ok() && !rows->Valid()) rows->SeekToFirst();
    for (; rows->Valid(); rows->Next()) {
      const auto first = DecodeRevision(ViewOf(rows->key()));
      if (!first) return rocksdb::Status::Corruption("a row of the log cannot be read");
      LogRecord record(*first, ViewOf(rows->value()));
      while (!record.AtEnd()) {
        if (record.NextRevision() > request_.upto) return ReachEnd();
        const rocksdb::Status status = Look(record);
        if (!status.ok() || IsFull()) return status;
      }
    }
    return rows->status().ok() ? ReachEnd() : rows->status();
  }

  WatchBatch TakeBatch() { return std::move(batch_); }

 private:
  rocksdb::Status ReachEnd() {
    batch_.progress = request_.upto;
    return rocksdb::Status::OK();
  }

  bool IsFull() const {
    return batch_.events.size() >= request_.max || looked_ >= kHistoryEvents ||
           bytes_ >= kHistoryBytes;
  }

  rocksdb::Status Look(LogRecord& record) {
    const Revision revision = record.NextRevision();
    const auto event = record.Take();
    if (!event) return rocksdb::Status::Corruption("a record of the log cannot be read");
    if (revision <= request_.after) return rocksdb::Status::OK();
    ++looked_;
    batch_.progress = revision;
    if (!event->key.starts_with(request_.prefix)) return rocksdb::Status::OK();
    return Gather(*event, revision);
  }

  rocksdb::Status Gather(const LogEvent& logged, Revision revision) {
    auto event = std::make_shared<Event>();
    event->type = logged.op == Op::kPut ? Event::Type::kPut : Event::Type::kDelete;
    event->key = logged.key;
    event->revision = revision;
    StoredVersion version;
    if (logged.op == Op::kPut) {
      const rocksdb::Status status = Fetch(logged.key, revision, version);
      if (!status.ok()) return status;
      event->value = std::move(version.value);
    }
    if (logged.previous) {
      const rocksdb::Status status = Fetch(logged.key, logged.previous, version);
      if (!status.ok()) return status;
      event->previous.emplace(
          Entry{.key = event->key, .value = std::move(version.value), .revision = logged.previous});
      bytes_ += event->previous->value.size();
    }
    bytes_ += event->value.size();
    batch_.events.push_back(std::move(event));
    return rocksdb::Status::OK();
  }

  rocksdb::Status Fetch(std::string_view key, Revision revision, StoredVersion& version) {
    rocksdb::Status status = ReadVersion(database_, key, revision, snapshot_.snapshot(), version);
    if (!status.IsNotFound()) return status;
    return rocksdb::Status::Corruption("a version is missing", std::string(key));
  }

  const Database& database_;
  const HistoryRequest& request_;
  rocksdb::ManagedSnapshot snapshot_;
  WatchBatch batch_;
  size_t looked_ = 0;
  size_t bytes_ = 0;
};

base::Result<WatchBatch> Reader::ReadHistory(const HistoryRequest& request) {
  const auto loan = gate_.Borrow();
  if (!loan) return tl::unexpected(loan.error());
  HistoryWalk walk(**loan, request);
  // The walk's view is fixed by now, as in Scan.
  const Revision compacted = horizon_.Get();
  if (request.after < compacted) return tl::unexpected(CompactedError(request.after, compacted));
  const rocksdb::Status status = walk.Run();
  if (!status.ok()) return Failed(status);
  return walk.TakeBatch();
}

}  // namespace berth::store::rocks
