#include "store/memory_engine.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "store/check.h"
#include "store/event_ring.h"

namespace berth::store {
namespace {

/// Approximate memory of a version beyond its strings.
constexpr size_t kVersionOverhead = 128;

struct Version {
  bool deleted = false;
  std::string value = {};
  std::optional<base::SteadyTime> deadline = {};
};

/// A key's versions by revision. The newest version at or before the compacted revision is kept,
/// because it is the state at that revision, unless it is a delete.
using Versions = std::map<Revision, Version>;
/// A map, because its nodes do not move: the log and the deadlines hold iterators.
using Keys = std::map<std::string, Versions, std::less<>>;

struct LogEntry {
  Revision revision = {};
  Keys::iterator key = {};
};

/// The events and the reply of one commit, expiry or call, to be delivered in order.
struct Delivery {
  std::vector<Event> events = {};
  Revision head = {};
  bool wake_all = false;
  std::function<void()> reply = {};
};

struct HeldReply {
  std::function<void(TxnReply)> done = {};
  TxnReply reply = {};
};

TxnReply Refused(base::Error error) {
  return TxnReply{.outcome = Outcome::kRefused, .error = std::move(error)};
}

TxnReply Unknown(std::string message) {
  return TxnReply{.outcome = Outcome::kUnknown,
                  .error = base::Error{.reason = base::Reason::kServiceUnavailable,
                                       .message = std::move(message)}};
}

/// Returns the version of the key at revision `at` and sets `revision` to that of the version.
/// Returns null if the key does not exist at `at`.
const Version* VersionAt(const Versions& versions, Revision at, Revision& revision) {
  const auto after = versions.upper_bound(at);
  if (after == versions.begin()) return nullptr;
  const auto found = std::prev(after);
  revision = found->first;
  return found->second.deleted ? nullptr : &found->second;
}

Entry MakeEntry(const std::string& key, const Version& version, Revision revision) {
  return Entry{.key = key, .value = version.value, .revision = revision};
}

Event MakeEvent(const LogEntry& entry) {
  const Versions& versions = entry.key->second;
  const auto version = versions.find(entry.revision);
  Event event{.type = version->second.deleted ? Event::Type::kDelete : Event::Type::kPut,
              .key = entry.key->first,
              .value = version->second.value,
              .revision = entry.revision};
  if (version != versions.begin()) {
    const auto& [revision, before] = *std::prev(version);
    if (!before.deleted) event.previous = MakeEntry(event.key, before, revision);
  }
  return event;
}

class Memory final : public MemoryEngine, private History {
 public:
  Memory(MemoryOptions options, const base::Clock& clock)
      : options_(std::move(options)),
        clock_(clock),
        ring_(options_.base, options_.ring_bytes, this),
        head_(options_.base) {
    base::MutexLock lock(mutex_);
    CompactTo(options_.base);
  }

  ~Memory() override {
    for (HeldReply& held : TakeHeld()) {
      held.done(Unknown("the store was closed before it replied"));
    }
  }

  void Get(std::string key, Done<std::optional<Entry>> done) override;
  void Scan(ScanRequest request, Done<ScanPage> done) override;
  void Commit(Txn txn, std::function<void(TxnReply)> done) override;
  std::unique_ptr<Watch> Follow(Revision after, std::function<void()> wake) override;
  base::Result<WatchBatch> ReadHistory(const HistoryRequest& request) override;
  void Current(Done<Revision> done) override;
  void RequestProgress() override;
  void Compact(Revision upto, Done<void> done) override;
  Health GetHealth() const override { return Health{}; }

  void Tick() override;
  size_t Held() const override;
  bool Release() override {
    return ReleaseAt([](size_t) { return size_t{0}; });
  }
  bool Release(base::Random& random) override {
    return ReleaseAt([&random](size_t held) { return base::Uniform(random, held); });
  }

 private:
  // Reading.
  std::optional<Entry> CurrentEntry(std::string_view key) const REQUIRES(mutex_);
  base::Result<ScanPage> ScanLocked(const ScanRequest& request) REQUIRES(mutex_);

  // Writing.
  TxnReply Run(Txn txn, std::vector<Event>& events) REQUIRES(mutex_);
  Revision Write(Keys::iterator key, Version version, std::vector<Event>& events) REQUIRES(mutex_);
  void ExpireDue() REQUIRES(mutex_);
  void TrimHistory() REQUIRES(mutex_);
  void CompactTo(Revision upto) REQUIRES(mutex_);
  void DropOldest() REQUIRES(mutex_);

  // Delivering events and replies.
  void Deliver() EXCLUDES(mutex_);
  template <typename Pick>
  bool ReleaseAt(Pick pick) EXCLUDES(mutex_);
  std::deque<HeldReply> TakeHeld() EXCLUDES(mutex_);

  const MemoryOptions options_;
  const base::Clock& clock_;
  EventRing ring_;

  mutable base::Mutex mutex_;
  Revision head_ GUARDED_BY(mutex_);
  Revision compacted_ GUARDED_BY(mutex_);
  Keys keys_ GUARDED_BY(mutex_);
  std::deque<LogEntry> log_ GUARDED_BY(mutex_);  // Every revision after compacted_, without gaps.
  size_t log_bytes_ GUARDED_BY(mutex_) = 0;
  /// The deadlines of keys that exist. The revision of the put makes each entry unique, so that it
  /// can be found and removed.
  std::map<std::pair<base::SteadyTime, Revision>, Keys::iterator> deadlines_ GUARDED_BY(mutex_);
  std::deque<HeldReply> held_ GUARDED_BY(mutex_);
  std::deque<Delivery> outbox_ GUARDED_BY(mutex_);
  bool delivering_ GUARDED_BY(mutex_) = false;
};

// Reading.

std::optional<Entry> Memory::CurrentEntry(std::string_view key) const {
  const auto found = keys_.find(key);
  if (found == keys_.end()) return std::nullopt;
  Revision revision;
  const Version* version = VersionAt(found->second, head_, revision);
  if (version == nullptr) return std::nullopt;
  return MakeEntry(found->first, *version, revision);
}

void Memory::Get(std::string key, Done<std::optional<Entry>> done) {
  base::Result<std::optional<Entry>> result;
  if (auto error = CheckKey(key)) {
    result = tl::unexpected(std::move(*error));
  } else {
    base::MutexLock lock(mutex_);
    ExpireDue();
    result = CurrentEntry(key);
  }
  Deliver();
  done(std::move(result));
}

base::Result<ScanPage> Memory::ScanLocked(const ScanRequest& request) {
  if (request.at > head_) return tl::unexpected(FutureError(request.at, head_));
  ScanPage page{.at = request.at ? request.at : head_};
  if (page.at < compacted_) return tl::unexpected(CompactedError(page.at, compacted_));

  const base::SteadyTime now = clock_.Steady();
  size_t bytes = 0;
  auto key = request.after < request.prefix ? keys_.lower_bound(request.prefix)
                                            : keys_.upper_bound(request.after);
  for (; key != keys_.end() && key->first.starts_with(request.prefix); ++key) {
    Revision revision;
    const Version* version = VersionAt(key->second, page.at, revision);
    if (version == nullptr) continue;
    bytes += key->first.size() + (request.keys_only ? 0 : version->value.size());
    const bool full = bytes > kMaxPageBytes && !page.entries.empty();
    if (full || page.entries.size() == request.limit) {
      page.more = true;
      break;
    }
    Entry entry = MakeEntry(key->first, *version, revision);
    if (request.keys_only) entry.value.clear();
    if (request.with_ttl && version->deadline) {
      entry.ttl = std::max(std::chrono::ceil<std::chrono::seconds>(*version->deadline - now),
                           std::chrono::seconds{0});
    }
    page.entries.push_back(std::move(entry));
  }
  return page;
}

void Memory::Scan(ScanRequest request, Done<ScanPage> done) {
  base::Result<ScanPage> result;
  if (auto error = CheckScan(request)) {
    result = tl::unexpected(std::move(*error));
  } else {
    base::MutexLock lock(mutex_);
    ExpireDue();
    result = ScanLocked(request);
  }
  Deliver();
  done(std::move(result));
}

void Memory::Current(Done<Revision> done) {
  Revision head;
  {
    base::MutexLock lock(mutex_);
    ExpireDue();
    head = head_;
  }
  Deliver();
  done(head);
}

base::Result<WatchBatch> Memory::ReadHistory(const HistoryRequest& request) {
  base::MutexLock lock(mutex_);
  if (request.after < compacted_) {
    return tl::unexpected(CompactedError(request.after, compacted_));
  }
  WatchBatch batch{.progress = request.after};
  const Revision end = std::min(request.upto, head_);
  while (batch.progress < end && batch.events.size() < request.max) {
    ++batch.progress.value;
    const LogEntry& entry =
        log_[static_cast<size_t>(batch.progress.value - log_.front().revision.value)];
    if (!entry.key->first.starts_with(request.prefix)) continue;
    batch.events.push_back(std::make_shared<const Event>(MakeEvent(entry)));
  }
  return batch;
}

std::unique_ptr<Watch> Memory::Follow(Revision after, std::function<void()> wake) {
  Tick();
  return ring_.Follow(after, std::move(wake));
}

// Writing.

void Memory::Commit(Txn txn, std::function<void(TxnReply)> done) {
  std::optional<base::Error> broken = CheckTxn(txn);
  {
    base::MutexLock lock(mutex_);
    ExpireDue();
    const Fault fault = !broken && options_.fault ? options_.fault(txn) : Fault::kNone;
    Delivery delivery;
    TxnReply reply;
    if (broken) {
      reply = Refused(std::move(*broken));
    } else if (fault == Fault::kFail) {
      reply = Refused({base::Reason::kServiceUnavailable, "the store was told to fail this write"});
    } else if (fault == Fault::kLoseWrite) {
      reply = Unknown("the store was told to lose this write");
    } else {
      reply = Run(std::move(txn), delivery.events);
      if (fault == Fault::kLoseReply) reply = Unknown("the store was told to lose this reply");
    }
    delivery.head = head_;
    if (fault == Fault::kHold) {
      held_.push_back({.done = std::move(done), .reply = std::move(reply)});
    } else {
      delivery.reply = [done = std::move(done), reply = std::move(reply)]() mutable {
        done(std::move(reply));
      };
    }
    outbox_.push_back(std::move(delivery));
  }
  Deliver();
}

TxnReply Memory::Run(Txn txn, std::vector<Event>& events) {
  TxnReply reply{.outcome = Outcome::kCommitted};
  for (size_t i = 0; i < txn.compares.size(); ++i) {
    std::optional<Entry> current = CurrentEntry(txn.compares[i].key);
    if ((current ? current->revision : Revision{}) == txn.compares[i].revision) continue;
    reply.conflicts.push_back({.compare = i, .current = std::move(current)});
  }
  if (!reply.conflicts.empty()) {
    reply.outcome = Outcome::kConflict;
    return reply;
  }
  for (Put& put : txn.puts) {
    const auto key = keys_.try_emplace(std::move(put.key)).first;
    Version version{.value = std::move(put.value)};
    if (put.ttl > std::chrono::seconds{0}) version.deadline = clock_.Steady() + put.ttl;
    reply.puts.push_back(Write(key, std::move(version), events));
  }
  for (const std::string& name : txn.deletes) {
    const auto key = keys_.find(name);
    const bool exists = key != keys_.end() && !key->second.rbegin()->second.deleted;
    reply.deletes.push_back(exists ? Write(key, Version{.deleted = true}, events) : Revision{});
  }
  TrimHistory();
  return reply;
}

Revision Memory::Write(Keys::iterator key, Version version, std::vector<Event>& events) {
  Versions& versions = key->second;
  if (!versions.empty() && versions.rbegin()->second.deadline) {
    deadlines_.erase({*versions.rbegin()->second.deadline, versions.rbegin()->first});
  }
  ++head_.value;
  if (version.deadline) deadlines_.emplace(std::pair(*version.deadline, head_), key);
  log_bytes_ += kVersionOverhead + key->first.size() + version.value.size();
  versions.emplace(head_, std::move(version));
  log_.push_back({.revision = head_, .key = key});
  events.push_back(MakeEvent(log_.back()));
  return head_;
}

void Memory::ExpireDue() {
  Delivery delivery;
  const base::SteadyTime now = clock_.Steady();
  while (!deadlines_.empty() && deadlines_.begin()->first.first <= now) {
    Write(deadlines_.begin()->second, Version{.deleted = true}, delivery.events);
  }
  if (delivery.events.empty()) return;
  TrimHistory();
  delivery.head = head_;
  outbox_.push_back(std::move(delivery));
}

void Memory::TrimHistory() {
  Revision upto = compacted_;
  while (log_bytes_ > options_.history_bytes) {
    upto = log_.front().revision;
    DropOldest();
  }
  CompactTo(upto);
}

void Memory::CompactTo(Revision upto) {
  while (!log_.empty() && log_.front().revision <= upto) DropOldest();
  compacted_ = std::max(compacted_, upto);
  ring_.SetCompacted(compacted_);
}

/// Gives up the oldest event. The states before it can no longer be read.
void Memory::DropOldest() {
  const LogEntry entry = log_.front();
  log_.pop_front();
  Versions& versions = entry.key->second;
  const auto version = versions.find(entry.revision);
  log_bytes_ -= kVersionOverhead + entry.key->first.size() + version->second.value.size();
  const bool deleted = version->second.deleted;
  versions.erase(versions.begin(), deleted ? std::next(version) : version);
  if (versions.empty()) keys_.erase(entry.key);
}

void Memory::Compact(Revision upto, Done<void> done) {
  base::Result<void> result;
  {
    base::MutexLock lock(mutex_);
    ExpireDue();
    if (upto > head_) {
      result = tl::unexpected(FutureError(upto, head_));
    } else {
      CompactTo(upto);
    }
  }
  Deliver();
  done(std::move(result));
}

// Delivering events and replies.

/// Delivers the outbox in order, without the lock. One thread at a time delivers for all callers,
/// because a thread that waited for its turn could wait for itself.
void Memory::Deliver() {
  base::MutexLock lock(mutex_);
  if (delivering_) return;
  delivering_ = true;
  while (!outbox_.empty()) {
    Delivery delivery = std::move(outbox_.front());
    outbox_.pop_front();
    lock.Unlock();
    ring_.Append(std::move(delivery.events), delivery.head, delivery.wake_all);
    if (delivery.reply) delivery.reply();
    lock.Lock();
  }
  delivering_ = false;
}

void Memory::RequestProgress() {
  {
    base::MutexLock lock(mutex_);
    ExpireDue();
    outbox_.push_back({.head = head_, .wake_all = true});
  }
  Deliver();
}

void Memory::Tick() {
  {
    base::MutexLock lock(mutex_);
    ExpireDue();
  }
  Deliver();
}

size_t Memory::Held() const {
  base::MutexLock lock(mutex_);
  return held_.size();
}

template <typename Pick>
bool Memory::ReleaseAt(Pick pick) {
  {
    base::MutexLock lock(mutex_);
    if (held_.empty()) return false;
    const auto held = held_.begin() + static_cast<std::ptrdiff_t>(pick(held_.size()));
    outbox_.push_back(
        {.head = head_,
         .reply = [done = std::move(held->done), reply = std::move(held->reply)]() mutable {
           done(std::move(reply));
         }});
    held_.erase(held);
  }
  Deliver();
  return true;
}

std::deque<HeldReply> Memory::TakeHeld() {
  base::MutexLock lock(mutex_);
  return std::exchange(held_, {});
}

}  // namespace

std::unique_ptr<MemoryEngine> MemoryEngine::Make(MemoryOptions options, const base::Clock& clock) {
  return std::make_unique<Memory>(std::move(options), clock);
}

}  // namespace berth::store
