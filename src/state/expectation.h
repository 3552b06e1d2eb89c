// What this process is about to write. The follower meets it again as an event; then it need not
// decode what the writer had in its hands, and the writer learns that its write happened even when
// the store's reply was lost.
//
// Threads: filled in by the writer before it is handed to Follower::Expect; after that `wire` and
// the outcome belong to the follower until it has passed the write's revision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "state/object.h"

namespace berth::state {

struct Expectation {
  std::string key = {};
  /// Exactly the bytes that go into the store; nothing: a delete.
  std::string stored = {};
  bool deletes = false;
  /// What the key's last put is before it (0: it does not exist); a delete is known by it.
  int64_t before = 0;
  WireText wire = {};

  // Filled in by the follower.
  int64_t revision = 0;   // Of the event that it was; 0: not seen.
  ObjectPtr object = {};  // What the event put.
  bool missed = false;    // The picture was read anew meanwhile: it may have happened unseen.
};

using ExpectationPtr = std::shared_ptr<Expectation>;

}  // namespace berth::state
