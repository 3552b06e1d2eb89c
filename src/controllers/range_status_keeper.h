// Keeps the status of IPRanges and NodePortRanges equal to the ledger's counts, with a condition
// for what the auditor has found about their values. Ranges that are not in force, because bitmaps
// have no room for them, say so. A change of a range writes the status in the same transaction
// (allocation/range_change.h). The keeper follows what Services take and release, and the values
// that a range shares with a changed one.
//
// One server writes, the one that has the job (job_lease.h): replicas whose gates differ compute
// different statuses, and would otherwise overwrite each other's for ever. What replicas disagree
// about is a condition of each range that it affects.
//
// It checks once a second, and writes each range whose status is no longer right. It does nothing
// while nothing changes. No range is written more than once a second, whichever server does it.
// Many ranges are written over several seconds: at most 256 in a second, a few at once, so that
// they do not delay writes of Services.
//
// Threads: that of the controllers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "allocation/ledger/ledger.h"
#include "allocation/ledger/ledger_view.h"
#include "allocation/range_replicas.h"
#include "allocation/records.h"
#include "base/clock.h"
#include "codec/value.h"
#include "controllers/controller_context.h"
#include "controllers/controller_feed.h"
#include "controllers/job_lease.h"
#include "controllers/range_findings.h"
#include "ip/addr.h"

namespace berth::controllers {

/// A status that must be written.
struct DueStatus {
  registry::Target target;
  std::string uid;
  codec::Value status;

  /// Sets the status of the range. Does nothing if the spec has changed meanwhile, since that
  /// change has written a newer status.
  void ApplyTo(codec::Value& range) const;
};
/// Returns whether the counts belong to the ranges of the snapshot. They do not while ranges of the
/// pool are closing, nor if the pool's ranges have changed between the count and the snapshot.
bool AreCountsOf(const state::Snapshot& snapshot, const allocation::RangeState& range);
/// What the status of a range is made of, beside its counts.
struct StatusFacts {
  const state::Snapshot& snapshot;
  base::WallTime now;
  const allocation::ReplicaSkew& skew;
  std::vector<ip::Family> families;         // Of the ledger.
  const RangeFindings* findings = nullptr;  // May be null.
};
/// Returns nullopt if the status is right, or if the range has no status of this type. The counts
/// must belong to the snapshot.
std::optional<DueStatus> DueStatusOf(const registry::Registry& registry,
                                     const allocation::RangeState& range, const StatusFacts& facts);

class RangeStatusKeeper final : public Reader {
 public:
  /// All must outlive it; `findings` may be null.
  RangeStatusKeeper(const Context& context, allocation::Ledger& ledger, const JobLease& job,
                    const RangeFindings* findings = nullptr);

  void Begin() override {}
  void OnObject(const state::ObjectPtr& now, const state::ObjectPtr& before) override;

  /// Returns whether there was anything to do.
  bool Work();
  base::SteadyTime NextDue() const { return ranges_.empty() ? std::min(due_, retry_) : due_; }

 private:
  using RangeState = allocation::RangeState;

  /// Returns whether this server has the job. If it has just got it, all ranges are checked.
  bool HasJob();
  /// Checks all ranges if replicas disagree about something else than before.
  void CompareReplicas();
  void WriteSome();
  /// Returns whether the status was written.
  bool Write(const RangeState& range, const StatusFacts& facts);

  /// Returns a number that grows with each change of what a status is made of.
  uint64_t Changes() const;

  Context context_;
  allocation::Ledger& ledger_;
  const JobLease& job_;
  const RangeFindings* const findings_;
  const allocation::RecordRows rows_;
  /// By resource and name: when each was last written, if that is less than a second ago.
  using RangeId = std::pair<uint16_t, std::string>;
  std::map<RangeId, base::SteadyTime> written_ = {};
  bool had_job_ = false;
  bool replicas_changed_ = true;  // Since `skew_` was made.
  allocation::ReplicaSkew skew_ = {};
  uint64_t seen_ = 0;      // Changes up to here are in the status of the ranges.
  base::SteadyTime look_;  // When the next check may begin.
  base::SteadyTime due_;
  base::SteadyTime retry_ = base::SteadyTime::max();  // When a range may be written again that was
                                                      // written too recently.
  std::vector<RangeState> ranges_ = {};               // Ranges of this check that are left.
};

}  // namespace berth::controllers
