// Rates and times to full as people read them. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "berth/paint.h"
#include "codec/value.h"
#include "inspect/growth.h"

namespace berth::cli {

/// Returns a rate in the unit that gives a readable number: "+12/day", "+3.5/week", "-2/month" or
/// "0".
std::string RateText(double per_day);

/// Returns a number of days in a few columns: "5 h", "12 d", "8 mo", "3 y", ">100 y".
std::string ShortDays(double days);

/// Returns the same as words: "5 hours", "12 days", "8 months", "more than 100 years".
std::string DaysInWords(double days);

/// Returns what a table shows: "full", "12 d", "never" or "?".
std::string FullInText(const inspect::TimeToFull& full);

/// Returns one sentence without a full stop, as in "in about 12 days, on 2026-12-01 (2026-11-28 to
/// 2026-12-08)".
std::string FullSentence(const inspect::TimeToFull& full, base::WallTime now);

/// Returns what the rate comes from: "from the creation times of the last 28 days".
std::string BasisText(const inspect::Growth& growth);

/// What a reader must know about a rate that comes from creation times.
inline constexpr std::string_view kCreationTimesNote =
    "Rates come from the creation times of the Services that exist now. They are a lower bound on "
    "how many are created, because deleted Services are not seen, and the net growth is less where "
    "older Services were deleted meanwhile.";

/// Return the documents for scripts, with all keys. Unknown is null.
codec::Value GrowthDocument(const inspect::Growth& growth);
codec::Value TimeToFullDocument(const inspect::TimeToFull& full, base::WallTime now);

}  // namespace berth::cli
