// A write that this process is about to make. When the follower receives the write as an event, it
// takes the object from here and need not decode the value. The writer learns that its write
// happened even if the store's reply was lost.
//
// Threads: the writer fills in an expectation before it passes it to Follower::Expect. After that,
// `wire` and the outcome belong to the follower until it has passed the write's revision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "state/object.h"

namespace berth::state {

struct Expectation {
  std::string key = {};
  /// Exactly the bytes that are put into the store. Empty for a delete.
  std::string stored = {};
  bool deletes = false;
  /// Revision of the key's last put before this write, or 0 if the key does not exist. The follower
  /// recognises the event of a delete by it.
  int64_t before = 0;
  WireText wire = {};

  // The outcome, filled in by the follower.
  int64_t revision = 0;   // Revision of the write's event, or 0 if it was not seen.
  ObjectPtr object = {};  // The object that the event put.
  /// The event may have been missed, because the whole store was read meanwhile or because the
  /// follower did not keep this expectation.
  bool missed = false;
};

using ExpectationPtr = std::shared_ptr<Expectation>;

}  // namespace berth::state
