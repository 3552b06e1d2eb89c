// One look at a source: the report of a pass over it, and what the pass could not see. A source may
// change while it is looked at, or may have been saved while it changed, so some findings are not
// faults: figures that a server was about to write. The functions below tell them apart. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "audit/finding.h"
#include "base/clock.h"

namespace berth::cli {

/// Servers write the counts of ranges once a second. This is the time until a second look.
inline constexpr std::chrono::seconds kSettleTime{3};

struct Look {
  audit::Report report = {};
  std::string form = {};  // "records", "bitmaps", "switching-to-bitmaps", "Services".
  /// Where the ranges come from, as a line. Empty if the source shows them as objects.
  std::string range_sources = {};
  /// What the source does not show, such as "Bitmaps".
  std::vector<std::string> not_checked = {};
  std::string why_not_checked = "the API does not show it";
  /// What to do to have the rest checked too. May be empty.
  std::string how_to_check = "berth snapshot save, and berth verify --snapshot with that file";
  /// The highest revision of a Service, a record or a bitmap.
  int64_t newest_write = 0;
  /// Findings that may pass by themselves. They do not count.
  std::vector<audit::Finding> settling = {};
  std::string why_settling = "a server writes these by itself";
};

/// Returns whether a second look is needed, if a server may be at work.
bool NeedsSecondLook(const Look& look);

/// Moves what may pass by itself to `settling`, for a source that no server uses. The counts of a
/// range may be out of date if a Service or a record was written after them: the server that was to
/// write them has ended. Those that were written last are wrong.
void SettleAtRest(Look& look);

/// Does the same for a source that a server may use. What `earlier` has found too, some seconds
/// before, has not passed by itself.
void SettleRunning(Look& look, const Look& earlier);

/// Settles the looks at a source that is watched. Watches of several kinds do not show one moment,
/// so every finding may pass by itself: it counts if a look some seconds before has it too.
class WatchedLooks {
 public:
  /// Returns the next look, with what does not count yet in `settling`.
  Look Next(Look look, base::SteadyTime now);

 private:
  Look earlier_ = {};  // At least kSettleTime before the next look.
  Look recent_ = {};
  std::optional<base::SteadyTime> recent_at_ = {};
};

}  // namespace berth::cli
