// The overview of a cluster: how full each range is, how fast it fills, what needs attention, and
// who holds most. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inspect/census.h"
#include "inspect/growth.h"

namespace berth::inspect {

enum class Severity : uint8_t { kNote, kWarning, kCritical };
/// Returns "note", "warning" or "critical".
std::string_view NameOf(Severity severity);

enum class AttentionKind : uint8_t {
  kFull,             ///< The range has no free value.
  kDynamicBandFull,  ///< Requests for any value fail, or take values of the static band.
  kNearlyFull,       ///< More than 80 % or 90 % is not free.
  kFullSoon,         ///< At today's rate it is full within 30 days.
  kSpill,            ///< Dynamic requests took values of the static band.
  kUsedTwice,        ///< Two Services hold one value.
  kOutsideRanges,    ///< Services hold values that no range contains.
  kWithoutService,   ///< Records hold values for Services that do not have them.
  kClosed,           ///< Nothing new is taken from the range.
  kAssumedRange,     ///< The source does not show the range.
};
/// Returns the name in documents, such as "DynamicBandFull".
std::string_view NameOf(AttentionKind kind);

/// Something that an operator should look at.
struct Attention {
  AttentionKind kind = AttentionKind::kFull;
  Severity severity = Severity::kNote;
  std::string range = {};    ///< The text of the range; empty if it is about none.
  std::string message = {};  ///< A sentence without a full stop.
  std::string advice = {};   ///< What to do; may be empty.
};

/// A range with its figures.
struct TopRange {
  RangeRef ref = {};
  std::string label = {};  ///< The text, with the name if another range has the same text.
  RangeFigures figures = {};
  /// How many of the taken values have a record and no Service. 0 if no Service is known at all.
  /// Records that verify does not report yet do not count.
  base::U128 orphans = 0;
  /// How many more, whose records are so young that their Services may still come.
  base::U128 young = 0;
  uint64_t used_twice = 0;
  /// Whether the source tells which values were drawn. Without that, spill is unknown.
  bool origins_known = false;
  Growth growth = {};
  Growth dynamic_growth = {};
  TimeToFull full = {};
  TimeToFull dynamic_full = {};
  std::optional<Severity> worst = {};  ///< Of what needs attention in this range.

  const std::string& text() const { return ref.row->text; }
  /// Returns the values that Services hold.
  base::U128 HeldByServices() const {
    return figures.Counts()[alloc::State::kTaken] - orphans - young;
  }
};

/// What a namespace holds.
struct Holder {
  std::string name_space = {};
  uint64_t services = 0;
  uint64_t addresses = 0;
  uint64_t ports = 0;
};

struct TopView {
  /// What needs attention first; otherwise in the order of the census.
  std::vector<TopRange> ranges = {};
  /// The worst first.
  std::vector<Attention> attention = {};
  /// Those that hold most first.
  std::vector<Holder> holders = {};
  size_t namespaces = 0;  ///< All that hold something.
  /// The number of Services of each type, the largest first.
  std::vector<std::pair<std::string, uint64_t>> types = {};
  /// What the source does not show.
  std::vector<Gap> gaps = {};
};

/// The values in use over time of one range.
struct RangeHistory {
  std::vector<UsePoint> range = {};
  std::vector<UsePoint> dynamic_band = {};
};
/// Returns whether a history is long enough for a rate: two looks that are a day apart.
bool IsEnough(const RangeHistory& history);
/// By the text of the range. Ranges without an entry are judged by creation times.
using UseHistory = std::map<std::string, RangeHistory, std::less<>>;

struct TopOptions {
  size_t holders = 10;         ///< How many to keep.
  bool given_history = false;  ///< There is a history, even if it is too short to be used.
  UseHistory history = {};
};

/// What to tell about a range whose growth comes from creation times although a history was given.
inline constexpr std::string_view kHistoryTooShort =
    "The history has no two looks at this range that are a day apart, so it was not used";

TopView MakeTop(const Census& census, const TopOptions& options);

/// Returns all ranges in the order of the census, with figures and growth, but without what needs
/// attention.
std::vector<TopRange> MeasureRanges(const Census& census, const UseHistory& history);

}  // namespace berth::inspect
