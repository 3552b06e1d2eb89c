// The hooks of range objects (IPRange, NodePortRange, ServiceCIDR). They ensure that no replica
// ever takes a value outside of the ranges. Each change of what ranges allow puts the fences of
// their pools in its own transaction, and each take compares them. A change that takes values away
// is the operation of range_change.h.
//
// Threads: every function may be called from any thread. Operations must end before it is
// destroyed.
#pragma once

#include <memory>

#include "allocation/range_change.h"
#include "allocation/range_reset.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/uuid_source.h"
#include "registry/hooks.h"
#include "state/snapshot.h"

namespace berth::allocation {

class RangeChanges final : public registry::KindHooks {
 public:
  /// All must outlive it.
  RangeChanges(const RecordRows& rows, const registry::Gates& gates, commit::Sequencer& sequencer,
               Ledger& ledger, const base::Clock& clock, const base::SeededRandom& random);

  std::shared_ptr<registry::WriteHooks> Begin(const registry::Target& target,
                                              const registry::CommonOptions& options) override;

  /// Makes the first ranges of addresses those of `reset` (range_reset.h).
  void Reset(const RangeReset& reset, commit::Done done);

  /// Opens a fence that has been closed for so long that the replica which closed it cannot be at
  /// work any more. The time is what this replica has seen over several calls, since the clocks of
  /// replicas differ.
  void OpenIfStale(alloc::PoolId pool, const state::Snapshot& snapshot) EXCLUDES(mutex_);

 private:
  /// A fence that was found closed.
  struct FoundClosed {
    int64_t revision = 0;
    base::SteadyTime since = {};
  };

  base::UuidSource uuids_;
  const RangeParts parts_;

  base::Mutex mutex_;
  alloc::PerPool<FoundClosed> found_closed_ GUARDED_BY(mutex_);
};

}  // namespace berth::allocation
