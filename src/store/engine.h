// The store contract: a small, revisioned key-value store, as Kubernetes needs one. Everything
// Berth knows lives behind it. Three engines implement it (memory, store/rocks, store/etcd); one
// suite (store/contract_suite.h) holds them to every sentence below.
//
// Order: commits are one single sequence, the same for every reader, and that sequence agrees
// with real time: what was replied to before a call began is seen by it (linearizable).
// Crash: what was replied kCommitted is there after it, whole; what was not is there whole or not
// at all; revisions never go back.
// Threads: every function may be called from any thread. A `done` is called exactly once, on the
// calling thread before the call returns or on a thread of the engine; it must be quick and must
// not wait for the engine. The destructor settles every call under way (reads with an error,
// commits with kRefused or kUnknown); nothing is called back after it. Watches must be gone before
// their engine is.
// Keys: 1 to kMaxKeyBytes bytes without NUL. Values: any bytes; some engines note their own
// bookkeeping in a part of the value that its readers overwrite anyway (see store/slot.h).
// Errors: kExpired: the revision is compacted, start over from the present; kBadRequest: a limit
// is broken or the revision lies in the future; kServiceUnavailable, kTimeout: try again later.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "store/types.h"

namespace berth::store {

/// A cursor over the events of a prefix: gap-free, in order, each event once. It holds no queue:
/// it reads recent events from the ring its engine shares among all watches, older ones from
/// history. A watch that is not polled slows nobody down; when history ends before it has read it,
/// it gets kExpired. Not thread-safe; destroying it ends it.
class Watch {
 public:
  virtual ~Watch() = default;

  /// Up to `max` events; none when there is nothing new, and then `wake` is called once there is.
  /// Does not wait for events, but may wait for the disk or the network while it reads the past.
  /// After an error every further Poll gives the same error.
  virtual base::Result<WatchBatch> Poll(size_t max) = 0;
};

class Engine {
 public:
  Engine() = default;
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// The key as it is now; nothing when it does not exist.
  virtual void Get(std::string key, Done<std::optional<Entry>> done) = 0;

  /// One page of a prefix. To read on: the same `prefix`, `at` from the page, `after` its last key.
  virtual void Scan(ScanRequest request, Done<ScanPage> done) = 0;

  /// Runs the transaction. Those waiting at the same time share a disk sync or a quorum write; what
  /// becomes of one is never felt by another.
  virtual void Commit(Txn txn, std::function<void(TxnReply)> done) = 0;

  /// `wake` is called at least once after a Poll that found nothing, when there is something to
  /// poll (events or an error), and possibly without need; from any thread; it must be quick and
  /// must not call into the engine. Never called after the Watch is destroyed.
  virtual std::unique_ptr<Watch> StartWatch(WatchRequest request, std::function<void()> wake) = 0;

  /// The revision of the newest commit or a higher one that no event will ever have.
  virtual void Current(Done<Revision> done) = 0;

  /// Lets the progress of every watch reach what is now the current revision even though nothing
  /// may happen in its prefix. Only etcd needs to do something for it.
  virtual void RequestProgress() = 0;

  /// Gives up history up to `upto`: states before it and events up to it can no longer be read.
  virtual void Compact(Revision upto, Done<void> done) = 0;

  virtual Health GetHealth() const = 0;

  /// A transaction that keeps the limits and has no more compares and no more writes than this is
  /// never too large; a larger one may be.
  virtual size_t MaxTxnItems() const { return kMaxPuts; }
};

}  // namespace berth::store
