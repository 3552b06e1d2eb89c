// Checks whether a watcher saw what it had to: each put and each delete that was committed, once,
// in the order of revisions, with the value that was put, and nothing else.
#pragma once

#include <string>
#include <vector>

#include "linear/linear_history.h"
#include "store/types.h"

namespace berth::linear {

/// What one watcher of the prefix saw.
struct WatchRecord {
  std::string name = {};                  // Names the replica in messages.
  store::Revision after = {};             // It began after this, before the history's first call.
  store::Revision upto = {};              // It has seen everything up to here.
  std::vector<store::Event> events = {};  // In the order of arrival.
  std::string error = {};                 // Why it ended early; empty if it did not.
};

/// Returns what is wrong, or an empty text. Transactions whose outcome is unknown may appear or
/// not. If they do, they must appear once and whole.
std::string CheckWatch(const History& history, const WatchRecord& record);

}  // namespace berth::linear
