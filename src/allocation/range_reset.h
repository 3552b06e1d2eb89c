// Makes the first ranges of addresses, which are those of the ServiceCIDR `kubernetes`, the ones
// that flags name, in one transaction: the ServiceCIDR, its IPRanges and which of them is primary.
// It is a change of ranges like any other (range_change.h), so it is refused while a Service or a
// reservation has an address that no range would have any more.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "allocation/range_change.h"
#include "base/clock.h"
#include "base/result.h"
#include "commit/write.h"
#include "ip/cidr.h"

namespace berth::allocation {

struct RangeReset {
  std::vector<ip::Cidr> cidrs = {};  // The primary one first.
  /// Changes nothing, and says whether anything is in the way except for default/kubernetes.
  bool dry_run = false;
  base::SteadyTime deadline = base::SteadyTime::max();
};

/// Submits the write. A ServiceCIDR that was being deleted is replaced by a new one. `done` is
/// called exactly once, on any thread. `parts` must outlive that call.
void ResetRanges(const RangeParts& parts, const RangeReset& reset, std::string id,
                 commit::Done done);

}  // namespace berth::allocation
