// Collects the findings of a pass: counts all of them, and keeps a bounded number of each kind. A
// finding about a value is kept as the value alone until the pass ends, so that only those which
// are reported cost more than a few bytes.
//
// Threads: one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "alloc/pool_id.h"
#include "audit/finding.h"

namespace berth::audit {

class Findings {
 public:
  /// Adds a finding about a value. Those with the lowest values are kept.
  void Add(FindingKind kind, const alloc::PoolValue& value);
  /// Adds a finding about something else. The first ones are kept.
  void Add(Finding finding);

  /// Fills in the findings of a report, ordered by kind and value. `describe` makes the finding
  /// about a value.
  void MoveTo(
      Report& report,
      const std::function<Finding(FindingKind kind, const alloc::PoolValue& value)>& describe) &&;

 private:
  struct OfKind {
    uint64_t count = 0;
    std::vector<alloc::PoolValue> values = {};  // A heap with the largest value at the front.
    std::vector<Finding> others = {};
  };

  std::array<OfKind, kFindingKinds> kinds_ = {};
};

}  // namespace berth::audit
