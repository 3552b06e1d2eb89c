// Reads the history that `berth observe` keeps, for the commands that look into a cluster.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "history/history_reader.h"
#include "inspect/census.h"
#include "inspect/top.h"
#include "inspect/whois.h"

namespace berth::cli {

/// Returns the past owners of values as whois wants them. What cannot be read is an empty past.
inspect::History PastOwners(const history::HistoryReader& reader);

/// Returns how many values of each range were in use, day by day, in the last 90 days, always as of
/// a moment at which an observer looked. Ranges of which too little is known are left out.
inspect::UseHistory PastUse(const history::HistoryReader& reader, const inspect::Census& census);

/// Says who held a value at a moment, or what a Service held. Lines are at most `width` columns.
std::string HeldAtText(std::string_view asked, base::WallTime at, const history::HeldAt& held,
                       bool of_service, size_t width);

}  // namespace berth::cli
