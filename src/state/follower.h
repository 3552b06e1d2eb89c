// Keeps the picture equal to the store: reads everything once, page by page at one revision, then
// follows one watch. Each batch of events is applied, published as a snapshot, told to the
// listeners, and then those go on who waited for its revision; so an answer that waited shows what
// its reader will read and watchers have been told. When the watch ends for whatever reason, the
// store is read again and the difference applied; readers keep the last picture meanwhile.
//
// A stored value that cannot be decoded is logged, counted and left out; it stops nothing.
//
// Threads: every function may be called from any thread. One thread writes: the follower's own
// (Start), or whoever calls Pump, one at a time, where a simulation decides when things happen. A
// callback is called exactly once, with no lock held, on the caller's thread or on the writing one,
// where it must be quick. The destructor settles all of them with kServiceUnavailable. Engine,
// resources, listeners, clock and log must outlive the follower.
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
#include "state/change.h"
#include "state/expectation.h"
#include "state/resource.h"
#include "state/snapshot.h"
#include "store/engine.h"

namespace berth::state {

struct FollowerOptions {
  /// Others write to the same store (etcd): a read of what is current asks the store first.
  bool shared_store = false;
  /// Whether the stored value is what was sent; engines may note a slot in it (codec/slot.h).
  /// Empty: if the bytes are equal.
  std::function<bool(std::string_view key, std::string_view sent, std::string_view stored)> same =
      {};
  size_t batch_events = 8192;    // Read from the watch at once.
  size_t page_entries = 1000;    // Read from the store at once.
  size_t max_waiting = 100'000;  // Callbacks of AwaitRevision and reads; more are refused.
  size_t max_expected = 65'536;  // Expectations; more are not kept, which only costs decoding.
  /// After this long a waiting reader has the store asked for progress, once for all of them.
  std::chrono::milliseconds ask_progress{20};
  std::chrono::milliseconds retry{200};  // Between attempts to read the store.
};

class Follower {
 public:
  using Await = std::function<void(base::Result<SnapshotPtr>)>;

  Follower(store::Engine& engine, const Resources& resources, std::vector<Listener*> listeners,
           FollowerOptions options, const base::Clock& clock, base::Logger& log);
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  /// Begins to read and follow, on a thread of its own.
  void Start();
  /// Ends that, and answers everything that waits with kServiceUnavailable; as the destructor does.
  void Stop();
  /// Does what there is to do now, without waiting for events; for who does not Start. Whether
  /// anything happened.
  bool Pump();

  /// The picture is complete and follows the store. False before the first and during any later
  /// reading of the whole store.
  bool Ready() const;
  /// Waits for the first picture; false when it takes longer, or cannot be had.
  bool WaitReady(std::chrono::nanoseconds limit) const;

  /// The newest published snapshot; empty at revision 0 before the first.
  SnapshotPtr Current() const;

  /// Calls back with a snapshot that is not older than `revision`. kTimeout at the deadline, worded
  /// as Kubernetes does it for a resourceVersion from the future.
  void AwaitRevision(int64_t revision, base::SteadyTime deadline, Await done);

  /// A snapshot that shows every write acknowledged before this call. With a store of one's own
  /// that is Current(), since writes are answered when they are published; with a shared one the
  /// store is asked, once for all who wait at the same time.
  void ReadCurrent(base::SteadyTime deadline, Await done);
  /// Always asks the store: also what others or the store itself (expiry) have committed is shown.
  void CatchUp(base::SteadyTime deadline, Await done);
  bool AsksStore() const;

  /// What is about to be committed; before the commit. One per key.
  void Expect(ExpectationPtr expectation);
  /// Its outcome is known.
  void Forget(const ExpectationPtr& expectation);

  /// Calls back on the writing thread at that time, or a little later; or when the follower ends.
  void RunAt(base::SteadyTime at, std::function<void()> call);

  /// Whether the key holds, as of the current snapshot, a value that cannot be decoded.
  bool IsUndecodable(std::string_view key) const;

  /// For metrics and for people.
  struct Stats {
    uint64_t events = 0;
    uint64_t batches = 0;
    uint64_t resets = 0;       // Readings of the whole store.
    uint64_t decoded = 0;      // Values decoded after the first reading.
    uint64_t taken_over = 0;   // Values taken from expectations instead.
    size_t undecodable = 0;    // Keys now.
    std::string trouble = {};  // Why it is not Ready, if there was an error.
  };
  Stats GetStats() const;

  const Resources& GetResources() const;
  store::Engine& Engine() const;
  const base::Clock& Clock() const;

 private:
  class Impl;
  const std::shared_ptr<Impl> impl_;
};

}  // namespace berth::state
