// The repair loops of bitmap mode. They make the bitmaps say what Services hold, whatever has
// happened to them (allocation/bitmaps/bitmap_repair.h). They set the bit of a Service's value if
// it is missing. A bit whose value no Service holds is kept for two passes and cleared in the
// third. A bitmap that was deleted, or that is of another range, is made again. Repairs are
// reported by events and metrics.
//
// Bits are changed as in any other write, in one transaction with a Lease that only repairs write.
// So if one server has found a leaked value and another server has cleared it, the first server
// does not clear it again after a Service has taken it.
//
// Threads: one at a time. It waits for its writes.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "allocation/bitmaps/bitmap_change.h"
#include "allocation/bitmaps/bitmap_repair.h"
#include "allocation/forms/form_switch.h"
#include "allocation/ledger/ledger.h"
#include "allocation/warning_events.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "obs/repair_metrics.h"
#include "registry/registry.h"
#include "state/follower.h"

namespace berth::allocation {

class BitmapRepairer {
 public:
  struct Parts {
    registry::Registry& registry;
    state::Follower& follower;
    Ledger& ledger;
    const base::Clock& clock;
    base::Logger& log;
    RunWrite run;
    registry::Gates gates = {};
    obs::RepairMetrics* metrics = nullptr;  // May be null; must outlive it.
  };
  /// All parts must outlive it.
  BitmapRepairer(Parts parts, const base::SeededRandom& random);

  /// Runs one pass. Does nothing unless bitmaps count.
  base::Result<void> Pass();

  /// Returns whether a bitmap is missing or is of another range. No value can be taken then until
  /// the next pass.
  bool IsUrgent() const;

 private:
  /// The values that are held, and their owners.
  struct Holdings {
    std::vector<AddressHolding> addresses = {};
    std::vector<PortHolding> ports = {};
  };
  /// The state that a pass works on.
  struct Scene {
    state::SnapshotPtr snapshot;
    FormState form;
    int64_t repairs = 0;  // Revision of the Lease that repairs write.
  };
  using Decided = commit::Decided;

  Scene Look() const;
  Holdings HoldingsIn(const state::Snapshot& snapshot) const;
  std::optional<RangeAllocation> StoredIn(const Scene& scene, BitmapId id) const;
  base::Result<void> RepairAddresses(Scene& scene, const Holdings& holdings);
  base::Result<void> RepairPorts(Scene& scene, const Holdings& holdings);
  base::Result<void> Write(Scene& scene, const PoolBitmap& bitmap, const RangeAllocation& repaired);
  base::Result<void> WriteWhole(const Scene& scene, const PoolBitmap& bitmap,
                                const RangeAllocation& repaired);
  base::Result<void> WriteChange(Scene& scene, const PoolBitmap& bitmap,
                                 const BitmapDifference& change);
  void Report(const std::vector<Finding>& findings, std::string_view repairer,
              obs::RepairMetrics::Loop* loop);
  void Raise(const Finding& finding, std::string_view repairer);

  const Parts parts_;
  const RecordRows rows_;
  const registry::Row& services_;
  const WorkLease lease_;
  base::SeededRandom random_;
  WarningEvents events_;
  std::map<BitmapId, Leaks> leaks_;
};

}  // namespace berth::allocation
