// One change of a range object, as an operation that can be read from top to bottom in the source:
//
//   close   The fences of the pools say what the ranges shall be. From their revision on no replica
//           takes a value that would be lost. A write that cannot be served from what remains
//           waits; it is not refused.
//   check   The snapshot has passed that revision, so it shows every take that was faster. Values
//           in use that no range would cover any more block the change.
//   commit  Nothing blocks it: the range, its companions and the open fences are one transaction.
//   reopen  Something blocks it: the fences are opened again, and the client gets 422, or 409 for a
//           delete, with the values in use and their owners.
//
// A change that takes no values away is a commit alone. A dry-run is a check alone. A range is
// written with the status that it has from then on, and so is every companion.
//
// Threads: one at a time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allocation/fences.h"
#include "allocation/ledger/ledger.h"
#include "allocation/range_effect.h"
#include "allocation/range_replicas.h"
#include "allocation/records.h"
#include "base/clock.h"
#include "base/uuid_source.h"
#include "commit/sequencer.h"
#include "registry/hooks.h"

namespace berth::allocation {

/// What all changes of ranges work with. All must outlive them.
struct RangeParts {
  RecordRows rows;
  registry::Gates gates;
  commit::Sequencer& sequencer;
  Ledger& ledger;
  base::UuidSource& uuids;
  const base::Clock& clock;
};

class RangeChange final : public registry::WriteHooks,
                          public std::enable_shared_from_this<RangeChange> {
 public:
  /// `resets` says that this is a change of the default ServiceCIDR which the first ranges follow
  /// (range_reset.h).
  RangeChange(const RangeParts& parts, const registry::CommonOptions& options, std::string id,
              bool resets = false);

  void Begin(codec::Value& object) override;
  std::optional<commit::Refusal> OnCreate(const registry::Attempt& attempt, registry::Draft& draft,
                                          commit::Decision& decision) override;
  std::optional<commit::Refusal> OnUpdate(const registry::Attempt& attempt, registry::Draft& draft,
                                          commit::Decision& decision) override;
  std::optional<commit::Refusal> OnDelete(const registry::Attempt& attempt, const codec::Value& old,
                                          commit::Decision& decision) override;
  std::optional<std::string> Warning(const codec::Value& object) override;
  /// Reopens in the background what a change that was not committed has left closed.
  void OnAnswer() override;

  using Again = std::function<void()>;
  /// Opens the fences that the operation `id` has closed, and calls back. Leaves others alone.
  static void Open(const RangeParts& parts, const std::string& id,
                   const std::vector<alloc::PoolId>& pools, Again done);

 private:
  using MaybeRefusal = std::optional<commit::Refusal>;

  MaybeRefusal Decide(const state::Snapshot& snapshot, const RangeEdit& edit, codec::Value* next,
                      commit::Decision& decision);
  std::optional<base::Error> CheckForm(const RangeEdit& edit, const state::Snapshot& snapshot,
                                       commit::Decision& decision) const;
  std::optional<base::Error> CheckReplicas(const RangeEdit& edit, const RangeEffect& effect) const;
  MaybeRefusal AwaitOthers(const RangeEdit& edit, const RangeEffect& effect,
                           const state::Snapshot& snapshot) const;
  bool IsClosed(const RangeEffect& effect, const state::Snapshot& snapshot) const;
  MaybeRefusal Close(const RangeEdit& edit, const RangeEffect& effect);
  MaybeRefusal Check(const RangeEdit& edit, const RangeEffect& effect,
                     const state::Snapshot& snapshot);
  void Commit(const RangeEdit& edit, const RangeEffect& effect, const state::Snapshot& snapshot,
              codec::Value* next, commit::Decision& decision);
  MaybeRefusal Reopen(base::Error verdict);

  void SetStatus(const registry::Row& row, const RangeEffect& effect, codec::Value& range) const;
  void AddCompanion(const Companion& companion, const RangeEffect& effect,
                    const state::Snapshot& snapshot, commit::Decision& decision) const;
  commit::Decided DecideClose(const std::vector<alloc::PoolId>& pools, const ClosedFence& closed,
                              const state::Snapshot& snapshot) const;
  std::optional<std::string> AdviceOn(const RangeEffect& effect) const;

  const RangeParts& parts_;
  const bool dry_run_;
  const bool bootstraps_;
  const bool resets_;
  const base::SteadyTime deadline_;
  const std::string id_;

  std::optional<codec::Value> completed_;  // A new range before its status was set.
  std::vector<alloc::PoolId> closed_;      // Pools whose fences this change has closed.
  std::optional<base::Error> verdict_;     // The answer, once the fences are open again.
  std::optional<std::string> advice_;      // Of the last attempt.
  std::vector<ReplicaInfo> replicas_;      // Of the last attempt.
};

}  // namespace berth::allocation
