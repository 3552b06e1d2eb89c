// Keeps a snapshot of all objects in memory equal to the store. The follower reads the whole store
// once, page by page at one revision, and then follows one watch. It applies each batch of events,
// publishes the result as a snapshot, notifies the listeners, and then calls back the callers that
// waited for its revision. So when a client gets an answer that waited, a later read shows the
// change and watchers have been notified of it. When the watch ends, for whatever reason, the
// follower reads the store again and applies the difference. Readers keep the last snapshot
// meanwhile.
//
// A stored value that cannot be decoded is logged, counted and left out. The rest goes on.
//
// Threads: every function may be called from any thread. One thread writes. It is the follower's
// own (Start), or the caller of Pump, one at a time, where a simulation decides when things happen.
// A callback is called exactly once, with no lock held, on the caller's thread or on the writing
// one. It must be quick. The destructor calls all pending ones with kServiceUnavailable. The
// engine, resources, listeners, clock and log must outlive the follower.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/timers.h"
#include "state/change.h"
#include "state/expectation.h"
#include "state/resource.h"
#include "state/snapshot.h"
#include "store/engine.h"

namespace berth::state {

struct FollowerOptions {
  /// True if other servers write to the same store (etcd). ReadCurrent then asks the store first.
  bool shared_store = false;
  /// Returns whether the stored value is the one that was sent. Engines may note a slot in it
  /// (codec/slot.h). If unset, the bytes are compared.
  std::function<bool(std::string_view key, std::string_view sent, std::string_view stored)> same =
      {};
  size_t batch_events = 8192;    // Read from the watch at once.
  size_t page_entries = 1000;    // Read from the store at once.
  size_t max_waiting = 100'000;  // Callbacks of AwaitRevision and reads. More are refused.
  size_t max_expected = 65'536;  // Expectations. More are not kept, which only costs decoding.
  /// After a reader has waited this long, the store is asked for progress, once for all readers.
  std::chrono::milliseconds ask_progress{20};
  std::chrono::milliseconds retry{200};  // Between attempts to read the store.
};

class Follower : public base::Timers {
 public:
  using Await = std::function<void(base::Result<SnapshotPtr>)>;

  Follower(store::Engine& engine, const Resources& resources, std::vector<Listener*> listeners,
           FollowerOptions options, const base::Clock& clock, base::Logger& log);
  ~Follower() override;
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  /// Starts a thread that reads and follows the store.
  void Start();
  /// Ends that thread and calls all waiting callbacks with kServiceUnavailable, as the destructor
  /// does.
  void Stop();
  /// Does the work that is due now, without waiting for events. For callers that do not Start.
  /// Returns whether there was any work.
  bool Pump();

  /// Returns whether the snapshot is complete and follows the store. False before the first reading
  /// of the whole store and during any later one.
  bool Ready() const;
  /// Waits until the follower is ready. Returns false at the time limit or when it is stopped.
  bool WaitReady(std::chrono::nanoseconds limit) const;

  /// Returns the newest published snapshot. It is empty, at revision 0, before the first.
  SnapshotPtr Current() const;

  /// Calls back with a snapshot that is not older than `revision`, or with kTimeout at the
  /// deadline. That error is worded as Kubernetes words it for a resourceVersion from the future.
  void AwaitRevision(int64_t revision, base::SteadyTime deadline, Await done);

  /// Calls back with a snapshot that shows every write acknowledged before this call. If the store
  /// is not shared, that is Current(), since writes are answered when they are published. If it is
  /// shared, the store is asked, once for all callers that wait at the same time.
  void ReadCurrent(base::SteadyTime deadline, Await done);
  /// Like ReadCurrent, but always asks the store. So the snapshot also shows what other servers or
  /// the store itself (expiry) have committed.
  void CatchUp(base::SteadyTime deadline, Await done);
  bool AsksStore() const;

  /// Announces what is about to be committed. Called before the commit. One expectation is kept per
  /// key.
  void Expect(ExpectationPtr expectation);
  /// Removes an expectation whose outcome is known.
  void Forget(const ExpectationPtr& expectation);

  /// Runs `call` on the writing thread.
  void RunAt(base::SteadyTime at, std::function<void()> call) override;

  /// Returns whether the key holds, as of the current snapshot, a value that cannot be decoded.
  bool IsUndecodable(std::string_view key) const;

  /// Returns the keys for which that is so, with the reasons, in order; `limit` of them at most.
  struct UndecodableKey {
    std::string key = {};
    std::string error = {};
  };
  std::vector<UndecodableKey> Undecodable(size_t limit) const;

  /// Figures for metrics and operators.
  struct Stats {
    uint64_t events = 0;
    uint64_t batches = 0;
    uint64_t resets = 0;       // Readings of the whole store.
    uint64_t decoded = 0;      // Values decoded after the first reading.
    uint64_t taken_over = 0;   // Values taken from expectations instead.
    size_t undecodable = 0;    // Keys whose values cannot be decoded, now.
    std::string trouble = {};  // Why the follower is not Ready, if there was an error.
  };
  Stats GetStats() const;

 private:
  class Impl;
  const std::shared_ptr<Impl> impl_;
};

}  // namespace berth::state
