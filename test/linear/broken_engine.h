// An engine with a built-in fault, to show that the checks find it. It passes everything to a sound
// engine and, every now and then, does one thing wrong.
//
// Threads: as for every engine. The inner engine must reply without help from outside.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"
#include "store/engine.h"

namespace berth::linear {

enum class Bug : uint8_t {
  kNone,
  kStaleRead,          // A get is answered from a copy that lags.
  kTornScan,           // A scan shows some keys earlier than others.
  kIgnoredCompare,     // A transaction happens although its compares fail.
  kFalseConflict,      // A conflict is reported without evaluating the compares.
  kHalfTxn,            // A transaction's first write happens before the others.
  kLostWrite,          // A commit is acknowledged but does not happen.
  kDoubledApply,       // A commit with an unknown outcome happens a second time, later.
  kSameRevisionTwice,  // Two writes get one revision.
  kWatchGap,           // A watch omits an event.
  kWatchDouble,        // A watch delivers an event twice.
};

class BrokenEngine final : public store::Engine {
 public:
  /// `inner` must outlive the engine.
  BrokenEngine(store::Engine& inner, Bug bug, uint64_t seed)
      : inner_(inner), bug_(bug), random_(seed) {}

  void Get(std::string key, store::Done<std::optional<store::Entry>> done) override;
  void Scan(store::ScanRequest request, store::Done<store::ScanPage> done) override;
  void Commit(store::Txn txn, std::function<void(store::TxnReply)> done) override;
  std::unique_ptr<store::Watch> Follow(store::Revision after, std::function<void()> wake) override;
  base::Result<store::WatchBatch> ReadHistory(const store::HistoryRequest& request) override;
  void Current(store::Done<store::Revision> done) override { inner_.Current(std::move(done)); }
  void RequestProgress() override { inner_.RequestProgress(); }
  void Compact(store::Revision upto, store::Done<void> done) override {
    inner_.Compact(upto, std::move(done));
  }
  store::Health GetHealth() const override { return inner_.GetHealth(); }

  /// Returns how often it has done something wrong.
  size_t Strikes() const EXCLUDES(mutex_);

 private:
  class BrokenWatch;

  /// Returns whether to do something wrong now, if this is the bug.
  bool Strikes(Bug bug) EXCLUDES(mutex_);

  std::optional<store::Entry> Lagging(const std::string& key) EXCLUDES(mutex_);
  void Follow(const store::Txn& txn, const store::TxnReply& reply) EXCLUDES(mutex_);

  store::TxnReply CommitWrongly(const store::Txn& txn);
  store::TxnReply CommitInHalves(const store::Txn& txn);
  store::TxnReply CommitElsewhere(store::Txn txn);
  store::TxnReply CommitAndForget(const store::Txn& txn) EXCLUDES(mutex_);
  void CommitAgain() EXCLUDES(mutex_);

  // For kSameRevisionTwice: convert revisions to what the caller sees, and back.
  store::Revision Shown(const std::string& key, store::Revision revision) EXCLUDES(mutex_);
  store::Revision Hidden(const std::string& key, store::Revision revision) EXCLUDES(mutex_);
  void Show(std::optional<store::Entry>& entry);
  void Show(const store::Txn& txn, store::TxnReply& reply);

  store::Engine& inner_;
  const Bug bug_;

  mutable base::Mutex mutex_;
  base::SeededRandom random_ GUARDED_BY(mutex_);
  size_t strikes_ GUARDED_BY(mutex_) = 0;
  // For kStaleRead: what the copy has not seen yet, and what it has.
  std::deque<std::pair<std::string, std::optional<store::Entry>>> behind_ GUARDED_BY(mutex_);
  std::map<std::string, store::Entry> copy_ GUARDED_BY(mutex_);
  std::vector<store::Txn> again_ GUARDED_BY(mutex_);  // For kDoubledApply: what will happen again.
  std::set<std::pair<std::string, store::Revision>> moved_ GUARDED_BY(mutex_);
};

}  // namespace berth::linear
