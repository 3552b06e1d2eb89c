// The repair loops of bitmap mode: bitmaps say what Services hold, whatever has happened to them. A
// bit that a Service's value lacks is set; one that nobody holds is kept for two passes and cleared
// in the third; a bitmap that is gone, or of another range, is made anew; people hear of it by
// events and metrics (alloc/bitmap_repair.h).
//
// Bits are changed like everybody's, in one transaction with a Lease that only repairs write: so
// what one server has found to be nobody's, and another one has cleared, is not cleared a second
// time when somebody has taken it since.
//
// Threads: one at a time. It waits for its writes.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "alloc/bitmap_change.h"
#include "alloc/bitmap_repair.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "commit/allocations.h"
#include "controllers/form_switch.h"
#include "obs/repair_metrics.h"
#include "registry/registry.h"
#include "state/follower.h"

namespace berth::controllers {

class BitmapRepairer {
 public:
  struct Parts {
    registry::Registry& registry;
    state::Follower& follower;
    commit::Allocations& allocations;
    const base::Clock& clock;
    base::Logger& log;
    RunWrite run;
    obs::RepairMetrics* metrics = nullptr;  // Must outlive it.
  };
  /// All parts must outlive it.
  BitmapRepairer(Parts parts, const base::SeededRandom& random);

  /// Does nothing unless bitmaps count.
  base::Result<void> Pass();

  /// Whether a bitmap that should be there is not, or is another range's: then nobody can take
  /// anything until the next pass.
  bool IsUrgent() const;

 private:
  /// What is held of the values, and by whom.
  struct Holdings {
    std::vector<alloc::AddressHolding> addresses = {};
    std::vector<alloc::PortHolding> ports = {};
  };
  /// What a pass works on.
  struct Scene {
    state::SnapshotPtr picture;
    commit::Allocations::FormState form;
    int64_t repairs = 0;  // The revision of the Lease that repairs write.
  };
  using Decided = tl::expected<commit::Decision, commit::Refusal>;

  Scene Look() const;
  Holdings HoldingsIn(const state::Snapshot& picture) const;
  std::optional<alloc::RangeAllocation> StoredIn(const Scene& scene, alloc::BitmapId id) const;
  base::Result<void> RepairAddresses(Scene& scene, const Holdings& holdings);
  base::Result<void> RepairPorts(Scene& scene, const Holdings& holdings);
  base::Result<void> Write(Scene& scene, const alloc::PoolBitmap& bitmap,
                           const alloc::RangeAllocation& repaired);
  base::Result<void> WriteWhole(const Scene& scene, const alloc::PoolBitmap& bitmap,
                                const alloc::RangeAllocation& repaired);
  base::Result<void> WriteChange(Scene& scene, const alloc::PoolBitmap& bitmap,
                                 const alloc::BitmapDifference& change);
  void Report(const std::vector<alloc::Finding>& findings, std::string_view repairer,
              obs::RepairMetrics::Loop* loop);
  void Raise(const alloc::Finding& finding, std::string_view repairer);

  const Parts parts_;
  const registry::RecordRows rows_;
  const registry::Row& services_;
  const WorkLease lease_;
  base::SeededRandom random_;
  size_t raised_ = 0;  // Events.
  std::map<alloc::BitmapId, alloc::Leaks> leaks_;
};

}  // namespace berth::controllers
