// Tells whether a recorded history is linearizable: whether there is an order of its operations, in
// agreement with real time, in which each reply is what a store with one state would have given.
// The search follows Wing and Gong, with Lowe's memory of configurations seen.
//
// What keeps it short: revisions say in which order the writes happened, so that only reads and
// open operations are left to be placed; an operation that changes nothing is placed as soon as it
// fits, which never hurts; a configuration is looked at once.
//
// Threads: plain functions of their arguments.
#pragma once

#include <cstdint>
#include <string>

#include "linear/history.h"

namespace berth::linear {

enum class Verdict : uint8_t {
  kLinearizable,
  kViolation,
  kUndecided,  // The search became too long, or the history is not one that can be checked.
};

struct CheckOptions {
  /// Off: the order of writes is searched for, not taken from their revisions, which then only say
  /// which put a compare meant. Finds faults of values and compares alone, at a higher cost.
  bool revisions = true;
  uint64_t max_configurations = 2'000'000;
};

struct CheckResult {
  Verdict verdict = Verdict::kUndecided;
  /// Unless linearizable: the longest order found, and the operations that do not fit behind it.
  std::string explanation = {};
  uint64_t configurations = 0;
};

CheckResult Check(const History& history, const CheckOptions& options = {});

}  // namespace berth::linear
