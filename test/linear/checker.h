// Decides whether a recorded history is linearizable: whether there is an order of its operations,
// in agreement with real time, in which each reply is what a store with one state would have given.
// The search follows Wing and Gong, with Lowe's memory of configurations seen.
//
// Three rules keep the search short. Revisions give the order of the writes, so that only reads and
// open operations remain to be placed. An operation that changes nothing is placed as soon as it
// fits, which never hurts. Each configuration is examined once.
//
// Threads: plain functions of their arguments.
#pragma once

#include <cstdint>
#include <string>

#include "linear/linear_history.h"

namespace berth::linear {

enum class Verdict : uint8_t {
  kLinearizable,
  kViolation,
  kUndecided,  // The search became too long, or the history cannot be checked.
};

struct CheckOptions {
  /// If false, the search determines the order of writes and does not take it from their revisions.
  /// Then revisions only identify the put that a compare meant. This finds faults of values and
  /// compares alone, at a higher cost.
  bool revisions = true;
  uint64_t max_configurations = 2'000'000;
};

struct CheckResult {
  Verdict verdict = Verdict::kUndecided;
  /// Set unless linearizable: the longest order found, and the operations that do not fit after it.
  std::string explanation = {};
  uint64_t configurations = 0;
};

CheckResult Check(const History& history, const CheckOptions& options = {});

}  // namespace berth::linear
