// Keeps the status of IPRanges and NodePortRanges what the allocator counts; those that are not in
// force, since bitmaps have no room for them, say so. One look a second, and a write for each range
// whose status is no longer right; nothing while nothing changes. One that somebody makes or
// changes is looked at at once, since they look too; but none is written more than once a second,
// whichever server does it. A look at many ranges takes its time: no more than 256 are written in a
// second, a few at once, so that those who create Services notice nothing of it.
//
// Threads: the controllers' one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "codec/value.h"
#include "commit/allocations.h"
#include "controllers/context.h"
#include "controllers/feed.h"
#include "registry/records.h"

namespace berth::controllers {

/// A status that is no longer right.
struct DueStatus {
  registry::Target target;
  std::string uid;
  codec::Value status;
};
/// Nothing: it is right, or the range is none that has one.
std::optional<DueStatus> DueStatusOf(const registry::Registry& registry,
                                     const state::Snapshot& picture,
                                     const commit::Allocations::RangeState& range,
                                     base::WallTime now);

class RangeStatusKeeper final : public Reader {
 public:
  /// All must outlive it.
  RangeStatusKeeper(const Context& context, commit::Allocations& allocations);

  void Begin() override { changed_.clear(); }
  void OnObject(const state::ObjectPtr& now, const state::ObjectPtr& before) override;

  /// Whether there was anything to do.
  bool Work();
  base::SteadyTime NextDue() const { return ranges_.empty() ? std::min(due_, retry_) : due_; }

 private:
  using RangeState = commit::Allocations::RangeState;

  bool WriteChanged();
  void WriteSome();
  /// Whether it was written.
  bool Write(const RangeState& range, const state::Snapshot& picture);

  Context context_;
  commit::Allocations& allocations_;
  const registry::RecordRows rows_;
  /// By resource and name: those that were made or changed, and when each was written last, as far
  /// as that is less than a second ago.
  using RangeId = std::pair<uint16_t, std::string>;
  std::set<RangeId> changed_ = {};
  std::map<RangeId, base::SteadyTime> written_ = {};
  uint64_t seen_ = 0;      // The allocator's changes up to here are in the ranges' status.
  base::SteadyTime look_;  // When the next look may begin.
  base::SteadyTime due_;
  base::SteadyTime retry_ = base::SteadyTime::max();  // When one may be written that may not now.
  std::vector<RangeState> ranges_ = {};               // Those of this look that are left.
};

}  // namespace berth::controllers
