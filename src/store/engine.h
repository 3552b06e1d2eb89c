// The store contract: a small, revisioned key-value store, as Kubernetes needs one. Berth keeps all
// its state in such a store. Three engines implement the contract (memory, store/rocks,
// store/etcd). One suite (store/testing/contract_suite.h) tests each engine against every sentence
// below.
//
// Order: commits form one single sequence, the same for every reader. That sequence agrees with
// real time: a call sees everything that was replied to before the call began (linearizable).
// Crash: a commit that was replied to with kCommitted survives a crash as a whole. Any other commit
// survives as a whole or not at all. Revisions never go back.
// Threads: every function may be called from any thread. `done` is called exactly once, either on
// the calling thread before the call returns or on a thread of the engine. It must be quick and
// must not wait for the engine. The destructor settles every call under way (reads with an error,
// commits with kRefused or kUnknown) and makes no callbacks after that. Watches must be destroyed
// before their engine.
// Keys: 1 to kMaxKeyBytes bytes without NUL. Values: any bytes. Some engines keep notes of their
// own in a part of the value that its readers overwrite anyway (see store/event_slot.h).
// Errors: kExpired means that the revision is compacted and the caller has to start over from the
// present. kBadRequest means that a limit is broken or that the revision lies in the future.
// kServiceUnavailable and kTimeout mean that the caller may try again later.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "store/types.h"

namespace berth::store {

/// A watch follows the store: it returns all events in order, without gaps, and each event once. It
/// holds no queue. It reads recent events from its engine's ring and older ones from history. A
/// watch that is not polled slows down no other watch. If history is compacted before the watch has
/// read it, Poll returns kExpired. Not thread-safe. Destroying the watch ends it.
class Watch {
 public:
  virtual ~Watch() = default;

  /// Returns up to `max` events, or an empty batch if there is nothing new. Does not wait for
  /// events, but may wait for the disk or the network while it reads the past. After an error every
  /// further Poll returns the same error.
  virtual base::Result<WatchBatch> Poll(size_t max) = 0;
};

class Engine {
 public:
  Engine() = default;
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Reads the key as it is now. Passes nullopt to `done` if the key does not exist.
  virtual void Get(std::string key, Done<std::optional<Entry>> done) = 0;

  /// Reads one page of a prefix. For the next page the caller passes the same `prefix`, the page's
  /// `at`, and the page's last key as `after`.
  virtual void Scan(ScanRequest request, Done<ScanPage> done) = 0;

  /// Runs the transaction. Transactions that wait at the same time share a disk sync or a quorum
  /// write. The outcome of one never affects another.
  virtual void Commit(Txn txn, std::function<void(TxnReply)> done) = 0;

  /// Follows all events with higher revisions than `after`, which may lie in the future. `wake` is
  /// called from any thread when there is something to poll (events, progress or an error), and
  /// sometimes without need. It must be quick and must not call into the engine. It is never called
  /// after the Watch is destroyed. A process should follow once and notify its many watchers
  /// itself, since every event wakes every Watch.
  virtual std::unique_ptr<Watch> Follow(Revision after, std::function<void()> wake) = 0;

  /// Reads events of the past, in order. The batch's `progress` says how far the engine has looked:
  /// not beyond `upto`, and beyond `after` unless there is nothing left up to `upto`. May wait for
  /// the disk or the network. Returns kExpired if events after `after` are compacted.
  virtual base::Result<WatchBatch> ReadHistory(const HistoryRequest& request) = 0;

  /// Reads the revision of the newest commit, or a higher one that no event will ever have.
  virtual void Current(Done<Revision> done) = 0;

  /// Makes the progress of every watch reach the revision that is current now, even if nothing
  /// happens in the watch's prefix. Only the etcd engine has to do something for this.
  virtual void RequestProgress() = 0;

  /// Gives up history up to `upto`. States before `upto` and events up to `upto` can no longer be
  /// read.
  virtual void Compact(Revision upto, Done<void> done) = 0;

  virtual Health GetHealth() const = 0;

  /// Returns the number of compares, and of writes, up to which a transaction that keeps the limits
  /// is never too large for this engine. A larger one may be too large.
  virtual size_t MaxTxnItems() const { return kMaxPuts; }
};

}  // namespace berth::store
