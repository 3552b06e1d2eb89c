// Changes of ranges, so that no value is ever taken outside of them, by whichever replica.
//
// Each change of what ranges allow puts the fences of their pools in its own transaction; each take
// compares them. That is enough for ranges that grow. One that shall cover less goes three steps:
// it is *closed* (the fence says what it shall be: from then on nobody takes what it would lose,
// and nobody is refused for that either), then the picture is *checked* for values that stand in
// the way, then the change is *committed*, or the fence is opened again and the answer names what
// stands in the way. A fence that somebody has left closed is opened by whoever finds it so
// (OpenIfStale).
//
// Threads: every function may be called from any thread. Operations must be over before it goes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "commit/allocations.h"
#include "commit/sequencer.h"
#include "commit/write.h"
#include "registry/fences.h"
#include "registry/range_world.h"
#include "registry/records.h"
#include "state/follower.h"

namespace berth::registry {

class RangeChanges {
 public:
  /// All must outlive it.
  RangeChanges(const RecordRows& rows, const Gates& gates, commit::Sequencer& sequencer,
               commit::Allocations& allocations, const base::Clock& clock,
               const base::SeededRandom& random);

  /// One change on its way: made by its first attempt, kept until it is answered.
  class Operation;
  using OperationPtr = std::shared_ptr<Operation>;

  struct Options {
    bool dry_run = false;
    base::SteadyTime deadline = base::SteadyTime::max();
    bool in_any_form = false;  // Also where allocations are not kept in records.
  };

  /// Adds to the decision what the change of a range needs and brings with it; or why it cannot be,
  /// or not yet.
  std::optional<commit::Refusal> Complete(OperationPtr& operation, const RangeEdit& edit,
                                          const Options& options, commit::Decision& decision)
      EXCLUDES(mutex_);

  /// What who made the change should hear of it; nothing: nothing, or there is no operation.
  static std::optional<std::string> AdviceOn(const OperationPtr& operation);

  /// It has been answered. What it had closed and not opened is opened.
  void Finish(const OperationPtr& operation);

  /// Opens a fence that has been closed for so long that nobody can be at work on it any more, as
  /// seen by who asks now and then: clocks of replicas differ.
  void OpenIfStale(alloc::PoolId pool) EXCLUDES(mutex_);

 private:
  struct Effect;
  using Again = std::function<void()>;

  base::Result<Effect> EffectOf(const RangeEdit& edit, const RangeWorld& world) const;
  std::optional<base::Error> CheckForm(const RangeEdit& edit, const Options& options,
                                       const state::Snapshot& picture,
                                       commit::Decision& decision) const;
  std::optional<base::Error> CheckReplicas(const RangeEdit& edit, const Effect& effect,
                                           const state::Snapshot& picture) const;
  std::optional<base::Error> Blocked(const RangeEdit& edit, const Effect& effect,
                                     const state::Snapshot& picture) const;
  std::optional<commit::Refusal> CloseAndCheck(const OperationPtr& operation, const RangeEdit& edit,
                                               const Effect& effect, const Options& options,
                                               const state::Snapshot& picture);
  std::optional<std::string> AdviceOn(const Effect& effect) const;
  void AddFences(const Effect& effect, const state::Snapshot& picture, commit::Decision& decision);
  void AddCompanions(const Effect& effect, commit::Decision& decision) EXCLUDES(mutex_);
  /// Puts the fence of one pool after the other; `again` when that is done, or one is closed.
  void Close(const OperationPtr& operation, ClosedFence closed, std::vector<alloc::PoolId> pools,
             base::SteadyTime deadline, Again again);
  void Open(const OperationPtr& operation, std::vector<alloc::PoolId> pools, Again again);
  std::string NewUid() EXCLUDES(mutex_);

  const RecordRows rows_;
  const Gates gates_;
  state::Follower& follower_;
  commit::Sequencer& sequencer_;
  commit::Allocations& allocations_;
  const base::Clock& clock_;

  base::Mutex mutex_;
  base::SeededRandom random_ GUARDED_BY(mutex_);
  /// A fence that was found closed.
  struct FoundClosed {
    int64_t revision = 0;
    base::SteadyTime since = {};
  };
  std::array<FoundClosed, alloc::kPools> found_closed_ GUARDED_BY(mutex_);
};

}  // namespace berth::registry
