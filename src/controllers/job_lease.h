// A job that one of several servers does: the server that holds the job's Lease in kube-system. The
// others follow. The holder renews the Lease three times within its duration. Another server takes
// the Lease if no server has written it for that long, by its own clock, or at once if
// the holder is no longer among the replicas. A holder that cannot renew it stops in time, before
// another one begins.
//
// A server that has the store alone does the job always, and writes no Lease.
//
// Threads: that of the controllers.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "allocation/forms/work_lease.h"
#include "base/clock.h"
#include "controllers/controller_context.h"
#include "state/snapshot.h"

namespace berth::controllers {

/// The job of writing the status of ranges when Services change.
inline constexpr const char* kRangeStatusJob = "berth-range-status";
inline constexpr std::chrono::seconds kJobLeaseLasts{6};

/// Returns whether a replica other than `id` holds the Lease and is still registered.
bool IsHeldByAnother(const registry::Registry& registry, const allocation::WorkLease& lease,
                     const std::string& id, const state::Snapshot& snapshot);

class JobLease {
 public:
  /// `id` is the name of this replica; empty if it is not registered, and then it is alone.
  JobLease(const Context& context, const std::string& job, std::string id,
           std::chrono::nanoseconds lasts);

  /// Returns whether this server does the job now.
  bool IsMine() const;
  /// Takes or renews the Lease if that is due. Returns whether it did anything.
  bool Work();
  base::SteadyTime NextDue() const;

 private:
  /// Returns whether no other server has the Lease.
  bool IsFree(const state::ObjectPtr& found, const state::Snapshot& snapshot, base::SteadyTime now);
  void Take(const state::ObjectPtr& found, base::SteadyTime now);

  Context context_;
  const allocation::WorkLease lease_;
  const std::string id_;
  const std::chrono::nanoseconds lasts_;
  const bool alone_;

  bool held_ = false;
  bool under_way_ = false;         // A write of the Lease.
  base::SteadyTime renewed_ = {};  // When the last successful write of the Lease began.
  base::SteadyTime due_;
  int64_t seen_ = -1;              // The revision of the Lease that was seen last,
  base::SteadyTime seen_at_ = {};  // and when it was new.
};

}  // namespace berth::controllers
