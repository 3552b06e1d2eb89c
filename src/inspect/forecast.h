// When each range is full, and what if more values were taken or a range had another size. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "inspect/top.h"

namespace berth::inspect {

struct ForecastOptions {
  std::string range = {};                ///< Name or text of one range; empty means all of them.
  std::optional<double> add = {};        ///< So many values a day more in each range.
  std::vector<std::string> resize = {};  ///< CIDRs and port ranges.
  bool given_history = false;  ///< There is a history, even if it is too short to be used.
  UseHistory history = {};
};

/// One future of a range.
struct Outlook {
  base::U128 usable = 0;
  base::U128 free = 0;
  base::U128 dynamic_free = 0;
  Growth growth = {};
  Growth dynamic_growth = {};
  TimeToFull full = {};
  TimeToFull dynamic_full = {};
};

/// A value in use that another size would leave out.
struct OutsideUse {
  std::string value = {};
  std::string service = {};  ///< "shop/web"
};

struct Resized {
  std::string text = {};
  Outlook outlook = {};
  /// The values in use that would be in no range any more, and the first few of them.
  uint64_t blockers = 0;
  std::vector<OutsideUse> first_blockers = {};
};
inline constexpr size_t kBlockersShown = 5;

struct RangeForecast {
  TopRange range = {};
  Outlook now = {};
  std::optional<Outlook> with_added = {};
  std::vector<Resized> resized = {};
};

struct ForecastView {
  std::optional<double> add = {};
  bool given_history = false;
  std::vector<RangeForecast> ranges = {};
};

/// Fails with kInvalid if the cluster has no such range, or if it is not clear which range is to be
/// resized. With `add`, a resized range gets the additional values too.
base::Result<ForecastView> MakeForecast(const Census& census, const ForecastOptions& options);

/// Returns what a range would be with other values. It keeps its options, and a static band of its
/// own. Fails with kInvalid if the text cannot be read, or if that band does not fit.
base::Result<alloc::RangeRow> ResizedRow(const alloc::RangeRow& old, const std::string& text);

}  // namespace berth::inspect
