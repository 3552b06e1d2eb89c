// Reads the history that `berth observe` keeps, for the commands that look into a cluster.
#pragma once

#include <string>

#include "base/result.h"
#include "history/history_reader.h"
#include "inspect/census.h"
#include "inspect/top.h"
#include "inspect/whois.h"

namespace berth::cli {

/// Returns the past owners of values as whois wants them. What cannot be read is an empty past.
inspect::History PastOwners(const history::HistoryReader& reader);

/// Returns how many values of each range were in use, day by day, in the last 90 days. Days on
/// which no observer looked are left out.
inspect::UseHistory PastUse(const history::HistoryReader& reader, const inspect::Census& census);

/// Returns a sentence about who held a value at a moment.
std::string HeldAtText(const alloc::PoolValue& value, base::WallTime at,
                       const history::HeldAt& held);

}  // namespace berth::cli
