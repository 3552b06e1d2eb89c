// Tells whether a watcher saw what it had to: each put and each delete that was committed, once, in
// order of revisions, with the value that was put, and nothing else.
#pragma once

#include <string>
#include <vector>

#include "linear/history.h"
#include "store/types.h"

namespace berth::linear {

/// What one watcher of the prefix saw.
struct WatchRecord {
  std::string name = {};                  // For messages: which replica's.
  store::Revision after = {};             // Began behind this, before the history's first call.
  store::Revision upto = {};              // It was told that it has seen everything up to here.
  std::vector<store::Event> events = {};  // As they came.
  std::string error = {};                 // Why it ended early; empty: it did not.
};

/// What is wrong; empty when nothing is. Transactions whose outcome is unknown may show up or not,
/// but if at all then once and whole.
std::string CheckWatch(const History& history, const WatchRecord& record);

}  // namespace berth::linear
