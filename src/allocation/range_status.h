// The status of an IPRange or a NodePortRange, computed from the ledger's counts. Pure.
#pragma once

#include <optional>
#include <string>

#include "allocation/ledger/ledger_view.h"
#include "base/clock.h"
#include "codec/value.h"

namespace berth::allocation {

/// What is wrong with a range apart from its counts. Empty if all is well.
struct RangeFault {
  std::string reason = {};
  std::string message = {};

  bool operator==(const RangeFault&) const = default;
};

struct RangeFaults {
  /// What the auditor has found about its values. If unset, the condition Consistent stays as it
  /// is.
  std::optional<RangeFault> found = {};
  /// What replicas disagree about (range_replicas.h).
  RangeFault skew = {};
};

/// Returns the status of a range. `range` is the current object. Conditions that do not change keep
/// their times. The condition Consistent is there from the first fault on, and ReplicasAgree only
/// while the replicas disagree.
codec::Value RangeStatusOf(const codec::Value& range, const RangeState& state, base::WallTime now,
                           const RangeFaults& faults = {});

}  // namespace berth::allocation
