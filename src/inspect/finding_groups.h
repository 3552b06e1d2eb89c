// What is wrong with a cluster, grouped by kind for people: the findings of the auditor and those
// of the checks on what runs. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/finding.h"
#include "inspect/running_checks.h"

namespace berth::inspect {

inline constexpr size_t kMostGroupItems = 100;

struct GroupItem {
  std::string message = {};
  std::string advice = {};  ///< May be empty.
  std::optional<alloc::PoolValue> value = {};
  std::string service = {};  ///< "shop/web"; may be empty.
  std::optional<RangeRef> range = {};
};

struct FindingGroup {
  std::string_view kind = {};  ///< "TwoOwners", "NamedInDynamicBand".
  std::string title = {};
  Severity severity = Severity::kNote;
  std::string why = {};  ///< Why it matters and what to do, in sentences.
  uint64_t count = 0;
  std::vector<GroupItem> items = {};  ///< The first kMostGroupItems.
};

/// Returns how bad a kind of finding is.
Severity SeverityOf(audit::FindingKind kind);

/// Returns the groups, the worst first.
std::vector<FindingGroup> GroupFindings(const Census& census, const audit::Report& report,
                                        const std::vector<RunningFinding>& running);

}  // namespace berth::inspect
