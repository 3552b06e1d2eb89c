#include "store/copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/go_text.h"
#include "base/mutex.h"
#include "store/blocking.h"
#include "store/keys.h"

namespace berth::store {
namespace {

using base::Reason;
using base::Result;

/// Commits several transactions at a time and remembers the first failure.
class Committer {
 public:
  Committer(Engine& target, size_t in_flight) : target_(target), limit_(in_flight) {}
  ~Committer() { Drain(); }
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  /// Starts a commit. Waits first while too many are under way. Returns an earlier failure.
  Result<void> Commit(Txn txn) {
    {
      base::MutexLock lock(mutex_);
      while (under_way_ >= limit_) settled_.Wait(mutex_);
      if (error_) return tl::unexpected(*error_);
      ++under_way_;
    }
    target_.Commit(std::move(txn), [this](TxnReply reply) { Settle(std::move(reply)); });
    return {};
  }

  /// Waits for all commits under way.
  Result<void> Drain() {
    base::MutexLock lock(mutex_);
    while (under_way_ > 0) settled_.Wait(mutex_);
    if (error_) return tl::unexpected(*error_);
    return {};
  }

 private:
  void Settle(TxnReply reply) {
    base::MutexLock lock(mutex_);
    --under_way_;
    if (reply.outcome != Outcome::kCommitted && !error_) error_ = ErrorOf(std::move(reply));
    settled_.NotifyAll();
  }

  static base::Error ErrorOf(TxnReply reply) {
    if (reply.outcome != Outcome::kConflict) return std::move(reply.error);
    std::string key = "a key";
    if (!reply.conflicts.empty() && reply.conflicts.front().current) {
      key = base::GoQuoted(reply.conflicts.front().current->key);
    }
    return {
        .reason = Reason::kConflict,
        .message = fmt::format("another process is writing to the target: {} has appeared there "
                               "during the copy; stop that process and begin again",
                               key)};
  }

  Engine& target_;
  const size_t limit_;
  base::Mutex mutex_;
  base::CondVar settled_;
  size_t under_way_ GUARDED_BY(mutex_) = 0;
  std::optional<base::Error> error_ GUARDED_BY(mutex_);
};

/// Gathers puts into transactions.
class Loader {
 public:
  Loader(Engine& target, const CopyOptions& options)
      : options_(options), committer_(target, std::max<size_t>(options.in_flight, 1)) {}

  Result<void> Add(Entry entry) {
    // Berth's own keys must have a revision that they share with no other key (codec/slot.h), and
    // an engine may join transactions that are under way at the same time. So these keys are
    // written one by one.
    const bool alone = entry.key.starts_with(kOwnPrefix);
    const size_t bytes = 2 * (kTxnItemBytes + entry.key.size()) + entry.value.size();
    const bool full = txn_.puts.size() >= options_.txn_puts || bytes_ + bytes > options_.txn_bytes;
    if (alone || full) {
      if (auto sent = Send(); !sent) return sent;
    }
    if (alone) {
      if (auto drained = committer_.Drain(); !drained) return drained;
    }
    // The very largest values leave no room for a compare in the transaction.
    if (bytes <= kMaxTxnBytes) txn_.compares.push_back({.key = entry.key});
    txn_.puts.push_back({.key = std::move(entry.key),
                         .value = std::move(entry.value),
                         .ttl = entry.ttl.value_or(std::chrono::seconds(0))});
    bytes_ += bytes;
    return alone ? Finish() : Result<void>();
  }

  /// Sends the remaining puts and waits for all commits.
  Result<void> Finish() {
    if (auto sent = Send(); !sent) return sent;
    return committer_.Drain();
  }

 private:
  Result<void> Send() {
    bytes_ = 0;
    if (txn_.puts.empty()) return {};
    return committer_.Commit(std::exchange(txn_, {}));
  }

  const CopyOptions& options_;
  Txn txn_;
  size_t bytes_ = 0;
  Committer committer_;
};

/// Calls `each` with every entry except the note. Stops at its first error.
template <typename Each>
Result<Revision> ForEachEntry(Engine& engine, ScanRequest request, const Each& each) {
  for (;;) {
    Result<ScanPage> page = ScanPageNow(engine, request);
    if (!page) return tl::unexpected(page.error());
    request.at = page->at;
    if (page->more) request.after = page->entries.back().key;
    for (Entry& entry : page->entries) {
      if (entry.key == kCopyNoteKey) continue;
      if (Result<void> done = each(std::move(entry)); !done) return tl::unexpected(done.error());
    }
    if (!page->more) return page->at;
  }
}

ScanRequest AllOfIt() { return {.prefix = std::string(kPrefix), .with_ttl = true}; }

void Report(const CopyOptions& options, CopyPhase phase, uint64_t keys, uint64_t bytes) {
  constexpr uint64_t kEvery = 500;
  if (options.progress && keys % kEvery == 0) options.progress({phase, keys, bytes});
}

/// Checks whether the target can be used, before anything is changed in it.
Result<void> CheckTarget(Engine& target, const CopyOptions& options) {
  const Result<Revision> current = CurrentNow(target);
  if (!current) return tl::unexpected(current.error());
  if (*current < options.above) {
    return base::Fail(
        Reason::kConflict,
        fmt::format("the target is at revision {}, and its revisions must be above {}: clients "
                    "would see time go back; use a target that is new",
                    current->value, options.above.value));
  }
  if (options.replace) return {};
  StateSummary held;
  ScanRequest keys{.prefix = std::string(kPrefix), .keys_only = true};
  const auto walked = ForEachEntry(target, std::move(keys), [&](const Entry& entry) {
    held.Add(entry);
    return Result<void>();
  });
  if (!walked) return tl::unexpected(walked.error());
  const auto note = UnfinishedCopy(target);
  if (!note) return tl::unexpected(note.error());
  if (held.keys() == 0 && !*note) return {};
  std::string holds = SummaryText(held);
  if (*note) holds += fmt::format(" of an unfinished copy ({})", base::ToVisible(**note));
  return base::Fail(Reason::kAlreadyExists,
                    fmt::format("the target is not empty: it holds {}", holds));
}

Result<void> PutNote(Engine& target, const std::string& note) {
  Txn txn;
  txn.puts.push_back({.key = std::string(kCopyNoteKey), .value = note});
  TxnReply reply = CommitNow(target, std::move(txn));
  if (reply.outcome == Outcome::kCommitted) return {};
  return tl::unexpected(std::move(reply.error));
}

Result<uint64_t> DeleteAll(Engine& target, const CopyOptions& options) {
  uint64_t deleted = 0;
  Committer committer(target, std::max<size_t>(options.in_flight, 1));
  Txn txn;
  ScanRequest keys{.prefix = std::string(kPrefix), .keys_only = true};
  const auto walked = ForEachEntry(target, std::move(keys), [&](Entry entry) -> Result<void> {
    txn.deletes.push_back(std::move(entry.key));
    Report(options, CopyPhase::kDeleting, ++deleted, 0);
    if (txn.deletes.size() < options.txn_puts) return {};
    return committer.Commit(std::exchange(txn, {}));
  });
  if (!walked) return tl::unexpected(walked.error());
  if (!txn.deletes.empty()) {
    if (auto sent = committer.Commit(std::move(txn)); !sent) return tl::unexpected(sent.error());
  }
  if (auto drained = committer.Drain(); !drained) return tl::unexpected(drained.error());
  return deleted;
}

Result<Revision> Load(Engine& target, const EntrySource& source, const CopyOptions& options,
                      StateSummary& summary) {
  Loader loader(target, options);
  Result<Revision> revision = source([&](Entry entry) {
    if (options.normalise) options.normalise(entry.key, entry.value);
    summary.Add(entry);
    Report(options, CopyPhase::kCopying, summary.keys(), summary.bytes());
    return loader.Add(std::move(entry));
  });
  if (!revision) return revision;
  if (auto finished = loader.Finish(); !finished) return tl::unexpected(finished.error());
  return revision;
}

Result<void> CheckCopy(Engine& target, const CopyOptions& options, Copied& copied) {
  const auto walked = ForEachEntry(target, AllOfIt(), [&](Entry entry) {
    if (options.normalise) options.normalise(entry.key, entry.value);
    copied.target.Add(entry);
    Report(options, CopyPhase::kChecking, copied.target.keys(), copied.target.bytes());
    return Result<void>();
  });
  if (!walked) return tl::unexpected(walked.error());
  const Sha256Sum wanted = copied.source.Checksum();
  const Sha256Sum found = copied.target.Checksum();
  if (wanted == found) return {};
  return base::Fail(
      Reason::kInternalError,
      fmt::format("the copy is not equal to its source: {} with checksum {} became {} "
                  "with checksum {}; another process may have written to the target",
                  SummaryText(copied.source), HexText(wanted), SummaryText(copied.target),
                  HexText(found)));
}

/// Compacts the history of the copying and deletes the note.
Result<Revision> Conclude(Engine& target) {
  Result<Revision> current = CurrentNow(target);
  if (!current) return current;
  if (auto compacted = CompactNow(target, *current); !compacted) {
    return tl::unexpected(compacted.error());
  }
  Txn txn;
  txn.deletes.emplace_back(kCopyNoteKey);
  TxnReply reply = CommitNow(target, std::move(txn));
  if (reply.outcome != Outcome::kCommitted) return tl::unexpected(std::move(reply.error));
  return CurrentNow(target);
}

}  // namespace

Result<Copied> CopyInto(Engine& target, const EntrySource& source, const CopyOptions& options) {
  Copied copied;
  if (auto usable = CheckTarget(target, options); !usable) return tl::unexpected(usable.error());
  if (auto noted = PutNote(target, options.note); !noted) return tl::unexpected(noted.error());
  const Result<uint64_t> deleted = DeleteAll(target, options);
  if (!deleted) return tl::unexpected(deleted.error());
  copied.deleted = *deleted;
  const Result<Revision> loaded = Load(target, source, options, copied.source);
  if (!loaded) return tl::unexpected(loaded.error());
  copied.source_revision = *loaded;
  if (auto same = CheckCopy(target, options, copied); !same) return tl::unexpected(same.error());
  const Result<Revision> revision = Conclude(target);
  if (!revision) return tl::unexpected(revision.error());
  copied.target_revision = *revision;
  return copied;
}

EntrySource EntriesOf(Engine& engine) {
  return [&engine](const EntrySink& sink) -> Result<Revision> {
    const auto note = UnfinishedCopy(engine);
    if (!note) return tl::unexpected(note.error());
    if (*note) {
      return base::Fail(Reason::kConflict, fmt::format("the source is incomplete: it holds an "
                                                       "unfinished copy ({})",
                                                       base::ToVisible(**note)));
    }
    return ForEachEntry(engine, AllOfIt(), sink);
  };
}

EntrySource EntriesOfSnapshot(std::string path) {
  return [path = std::move(path)](const EntrySink& sink) {
    return ReadSnapshotFile(path, sink).map([](const SnapshotFileInfo& info) {
      return info.revision;
    });
  };
}

Result<std::optional<std::string>> UnfinishedCopy(Engine& engine) {
  return GetNow(engine, std::string(kCopyNoteKey)).map([](std::optional<Entry> entry) {
    return entry ? std::optional(std::move(entry->value)) : std::nullopt;
  });
}

Result<Revision> Summarise(Engine& engine, const Normalise& normalise, StateSummary& summary) {
  return ForEachEntry(engine, AllOfIt(), [&](Entry entry) {
    if (normalise) normalise(entry.key, entry.value);
    summary.Add(entry);
    return Result<void>();
  });
}

std::string SummaryText(const StateSummary& summary) {
  constexpr size_t kShown = 4;
  std::vector<std::pair<std::string, uint64_t>> kinds;
  for (const auto& [kind, count] : summary.kinds()) kinds.emplace_back(kind, count.keys);
  // Sorts by count, then by name. Kinds are unique, so the order is always the same.
  std::ranges::sort(kinds, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::string shown;
  for (size_t i = 0; i < std::min(kinds.size(), kShown); ++i) {
    shown += fmt::format("{}{} {}", i == 0 ? "" : ", ", kinds[i].second,
                         base::ToVisible(kinds[i].first));
  }
  if (kinds.size() > kShown) shown += fmt::format(" and {} more kinds", kinds.size() - kShown);
  const std::string keys =
      fmt::format("{} {}", summary.keys(), summary.keys() == 1 ? "key" : "keys");
  return shown.empty() ? keys : fmt::format("{} ({})", keys, shown);
}

}  // namespace berth::store
