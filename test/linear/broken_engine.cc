#include "linear/broken_engine.h"

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <thread>

#include "store/blocking.h"

namespace berth::linear {
namespace {

using store::Entry;
using store::Revision;
using store::Txn;
using store::TxnReply;

/// Gives other clients time to come in between.
void Dawdle() { std::this_thread::sleep_for(std::chrono::microseconds(200)); }

}  // namespace

/// Omits events or delivers them twice. Shows the same revisions as its engine.
class BrokenEngine::BrokenWatch final : public store::Watch {
 public:
  BrokenWatch(BrokenEngine& engine, std::unique_ptr<store::Watch> inner)
      : engine_(engine), inner_(std::move(inner)) {}

  base::Result<store::WatchBatch> Poll(size_t max) override {
    auto batch = inner_->Poll(max);
    if (!batch) return batch;
    std::vector<store::EventPtr> events;
    for (const auto& event : batch->events) {
      if (engine_.Strikes(Bug::kWatchGap)) continue;
      if (engine_.Strikes(Bug::kWatchDouble)) events.push_back(event);
      store::Event shown = *event;
      shown.revision = engine_.Shown(shown.key, shown.revision);
      engine_.Show(shown.previous);
      events.push_back(std::make_shared<const store::Event>(std::move(shown)));
    }
    batch->events = std::move(events);
    return batch;
  }

 private:
  BrokenEngine& engine_;
  const std::unique_ptr<store::Watch> inner_;
};

size_t BrokenEngine::Strikes() const {
  const base::MutexLock lock(mutex_);
  return strikes_;
}

bool BrokenEngine::Strikes(Bug bug) {
  if (bug != bug_) return false;
  constexpr uint64_t kOneIn = 8;
  const base::MutexLock lock(mutex_);
  if (base::Uniform(random_, kOneIn) != 0) return false;
  ++strikes_;
  return true;
}

// Reads.

void BrokenEngine::Get(std::string key, store::Done<std::optional<Entry>> done) {
  if (Strikes(Bug::kStaleRead)) {
    done(Lagging(key));
    return;
  }
  inner_.Get(std::move(key),
             [this, done = std::move(done)](base::Result<std::optional<Entry>> got) {
               if (got) Show(*got);
               done(std::move(got));
             });
}

void BrokenEngine::Scan(store::ScanRequest request, store::Done<store::ScanPage> done) {
  auto page = store::ScanPageNow(inner_, request);
  if (page && !request.at && !page->entries.empty() && Strikes(Bug::kTornScan)) {
    Dawdle();
    const std::string middle = page->entries[page->entries.size() / 2].key;
    const auto later = store::ScanPageNow(inner_, request);
    std::erase_if(page->entries, [&](const Entry& entry) { return entry.key >= middle; });
    for (const Entry& entry : later->entries) {
      if (entry.key >= middle) page->entries.push_back(entry);
    }
    page->at = later->at;
  }
  if (page) {
    for (Entry& entry : page->entries) entry.revision = Shown(entry.key, entry.revision);
  }
  done(std::move(page));
}

std::optional<Entry> BrokenEngine::Lagging(const std::string& key) {
  const base::MutexLock lock(mutex_);
  const auto found = copy_.find(key);
  return found == copy_.end() ? std::nullopt : std::optional(found->second);
}

void BrokenEngine::Follow(const Txn& txn, const TxnReply& reply) {
  if (reply.outcome != store::Outcome::kCommitted) return;
  const base::MutexLock lock(mutex_);
  for (size_t i = 0; i < txn.puts.size(); ++i) {
    const auto& put = txn.puts[i];
    behind_.emplace_back(put.key,
                         Entry{.key = put.key, .value = put.value, .revision = reply.puts[i]});
  }
  for (const auto& key : txn.deletes) behind_.emplace_back(key, std::nullopt);
  constexpr size_t kLag = 4;
  while (behind_.size() > kLag) {
    auto& [key, entry] = behind_.front();
    if (entry) {
      copy_[key] = std::move(*entry);
    } else {
      copy_.erase(key);
    }
    behind_.pop_front();
  }
}

// Writes.

void BrokenEngine::Commit(Txn txn, std::function<void(TxnReply)> done) {
  CommitAgain();
  Txn sent = txn;
  for (auto& compare : sent.compares) compare.revision = Hidden(compare.key, compare.revision);
  TxnReply reply = CommitWrongly(sent);
  Follow(txn, reply);
  Show(txn, reply);
  done(std::move(reply));
}

TxnReply BrokenEngine::CommitWrongly(const Txn& txn) {
  if (!txn.compares.empty() && Strikes(Bug::kIgnoredCompare)) {
    return store::CommitNow(inner_, {.puts = txn.puts, .deletes = txn.deletes});
  }
  if (!txn.compares.empty() && Strikes(Bug::kFalseConflict)) {
    auto current = store::GetNow(inner_, txn.compares.front().key);
    return {.outcome = store::Outcome::kConflict, .conflicts = {{0, std::move(*current)}}};
  }
  if (txn.puts.size() + txn.deletes.size() > 1 && Strikes(Bug::kHalfTxn)) {
    return CommitInHalves(txn);
  }
  if (!txn.puts.empty() && txn.deletes.empty() && Strikes(Bug::kLostWrite)) {
    return CommitElsewhere(txn);
  }
  if (Strikes(Bug::kDoubledApply)) return CommitAndForget(txn);
  return store::CommitNow(inner_, txn);
}

TxnReply BrokenEngine::CommitInHalves(const Txn& txn) {
  Txn first{.compares = txn.compares};
  Txn rest{.puts = txn.puts, .deletes = txn.deletes};
  if (txn.puts.empty()) {
    first.deletes = {txn.deletes.front()};
    rest.deletes.erase(rest.deletes.begin());
  } else {
    first.puts = {txn.puts.front()};
    rest.puts.erase(rest.puts.begin());
  }
  TxnReply reply = store::CommitNow(inner_, first);
  if (reply.outcome != store::Outcome::kCommitted) return reply;
  Dawdle();
  const TxnReply more = store::CommitNow(inner_, rest);
  reply.puts.insert(reply.puts.end(), more.puts.begin(), more.puts.end());
  reply.deletes.insert(reply.deletes.end(), more.deletes.begin(), more.deletes.end());
  return reply;
}

/// Commits under other keys. The revisions are real, but the keys asked for are not written.
TxnReply BrokenEngine::CommitElsewhere(Txn txn) {
  for (auto& put : txn.puts) put.key = "/lost" + put.key;
  return store::CommitNow(inner_, std::move(txn));
}

TxnReply BrokenEngine::CommitAndForget(const Txn& txn) {
  TxnReply reply = store::CommitNow(inner_, txn);
  if (reply.outcome != store::Outcome::kCommitted) return reply;
  const base::MutexLock lock(mutex_);
  again_.push_back({.puts = txn.puts, .deletes = txn.deletes});
  return {.outcome = store::Outcome::kUnknown,
          .error = {.reason = base::Reason::kTimeout, .message = "no answer"}};
}

void BrokenEngine::CommitAgain() {
  std::vector<Txn> again;
  {
    const base::MutexLock lock(mutex_);
    constexpr uint64_t kOneIn = 4;
    if (again_.empty() || base::Uniform(random_, kOneIn) != 0) return;
    again = std::exchange(again_, {});
  }
  for (Txn& txn : again) store::CommitNow(inner_, std::move(txn));
}

// Watches.

std::unique_ptr<store::Watch> BrokenEngine::Follow(Revision after, std::function<void()> wake) {
  return std::make_unique<BrokenWatch>(*this, inner_.Follow(after, std::move(wake)));
}

base::Result<store::WatchBatch> BrokenEngine::ReadHistory(const store::HistoryRequest& request) {
  return inner_.ReadHistory(request);
}

// For revisions that are given twice: every sixteenth is shown as the one before it.

Revision BrokenEngine::Shown(const std::string& key, Revision revision) {
  constexpr int64_t kEach = 16;
  if (bug_ != Bug::kSameRevisionTwice || !revision || revision.value % kEach != 0) return revision;
  const base::MutexLock lock(mutex_);
  if (moved_.emplace(key, revision).second) ++strikes_;
  return {revision.value - 1};
}

Revision BrokenEngine::Hidden(const std::string& key, Revision revision) {
  const Revision next{revision.value + 1};
  const base::MutexLock lock(mutex_);
  return moved_.contains({key, next}) ? next : revision;
}

void BrokenEngine::Show(std::optional<Entry>& entry) {
  if (entry) entry->revision = Shown(entry->key, entry->revision);
}

void BrokenEngine::Show(const Txn& txn, TxnReply& reply) {
  for (size_t i = 0; i < reply.puts.size(); ++i) {
    reply.puts[i] = Shown(txn.puts[i].key, reply.puts[i]);
  }
  for (size_t i = 0; i < reply.deletes.size(); ++i) {
    reply.deletes[i] = Shown(txn.deletes[i], reply.deletes[i]);
  }
  for (auto& conflict : reply.conflicts) Show(conflict.current);
}

}  // namespace berth::linear
