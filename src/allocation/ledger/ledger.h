// The ledger of which addresses and ports are taken. It follows the Services, records, ranges and
// fences of the store as a listener of the snapshot. A value is taken if a record says so, if a
// stored Service holds it, or if a write in flight takes it. So the ledger can be built again from
// the store at any moment, a record that is lost frees nothing, and the values of a failed write
// are free again when the write has failed, not earlier and not later.
//
// - A take counts from the moment it is granted, a release only when it is committed.
// - A write is granted all of its claims or none.
// - A value that is reserved for a Service goes to that Service only. The Service gets it if it
//   asks for any value, and may ask for it by name.
// - A denial holds in committed state. If a write in flight could change it, the denial says how to
//   wait for that. Writes that wait for any value of a full range are served in order, before those
//   that come later. While ranges of a pool are closing (see alloc/range_table.h) no denial of that
//   pool is final.
// - A grant is made on the ranges at a revision of their fences, and its write compares these. The
//   same goes for the form in which the store keeps allocations (allocation/bitmaps/store_form.h).
//
// Threads: every function may be called from any thread. Callbacks are called with no lock held, on
// the thread that made the change they waited for. Grants and tickets must not outlive the ledger.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "allocation/bitmaps/bitmap_follower.h"
#include "allocation/bitmaps/store_form.h"
#include "allocation/claims/claims.h"
#include "allocation/ledger/callbacks.h"
#include "allocation/ledger/ledger_state.h"
#include "allocation/ledger/record_reader.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "ip/addr.h"
#include "state/change.h"

namespace berth::allocation {

class Ledger final : public state::Listener {
 public:
  Ledger(RecordReader reader, const base::SeededRandom& random);
  ~Ledger() override;

  /// Grants all of the claims, or denies them. `releases` are values that the write releases when
  /// it is committed.
  tl::expected<Grant, Denial> GrantClaims(const Claimant& claimant, std::span<const Claim> claims,
                                          std::span<const PoolValue> releases, TicketPtr& ticket)
      EXCLUDES(mutex_);
  /// Ends a grant. The outcome of the write is known, and the snapshot shows it if it was
  /// committed.
  void EndGrant(const Grant& grant) EXCLUDES(mutex_);

  /// Calls back when a pool's fence has changed after a revision. Returns false if it has already.
  bool AwaitFence(PoolId pool, int64_t revision, Callback retry) EXCLUDES(mutex_);

  /// Returns the form in which the store keeps allocations.
  FormState Form() const EXCLUDES(mutex_);
  /// Returns the families that have an open range, the default one first.
  std::vector<ip::Family> Families() const EXCLUDES(mutex_);

  void OnBatch(const std::vector<state::Change>& changes, int64_t revision) override
      EXCLUDES(mutex_);
  void OnReset(const std::vector<state::Change>& changes, int64_t revision) override
      EXCLUDES(mutex_);

 private:
  friend class LedgerView;
  friend class Ticket;

  tl::expected<Grant, Denial> Decide(const Claimant& claimant, std::span<const Claim> claims,
                                     std::span<const PoolValue> releases, TicketPtr& ticket,
                                     Callbacks& callbacks) EXCLUDES(mutex_);
  /// Returns a function that registers a callback. That function takes the lock.
  Wait WaitFor(const WaitTarget& target);
  void Leave(const Ticket& ticket) EXCLUDES(mutex_);

  void Apply(const std::vector<state::Change>& changes, size_t at_once, Callbacks& callbacks)
      EXCLUDES(mutex_);
  void Read(const state::Change& change, Callbacks& callbacks) EXCLUDES(mutex_);
  void ApplyValues(Callbacks& callbacks) EXCLUDES(mutex_);
  void ApplyRanges(Callbacks& callbacks) EXCLUDES(mutex_);
  void SetForm(AllocationForm form, int64_t revision, Callbacks& callbacks) EXCLUDES(mutex_);

  const RecordReader reader_;
  // Only the listener's thread uses these.
  BitmapFollower bitmaps_;
  LedgerChanges read_;     // Read and not yet applied.
  bool has_read_ = false;  // A whole snapshot.

  mutable base::Mutex mutex_;
  LedgerState state_ GUARDED_BY(mutex_);
};

/// Its number says how long a write has been waiting, and is the same in every queue. So of two
/// writes that need the same two pools, one is ahead of the other in both queues.
class Ticket {
 public:
  Ticket(Ledger& owner, uint64_t number) : number_(number), owner_(owner) {}
  ~Ticket() { owner_.Leave(*this); }
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;

  uint64_t Number() const { return number_; }

 private:
  const uint64_t number_;
  Ledger& owner_;
};

}  // namespace berth::allocation
