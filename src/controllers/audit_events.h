// What Kubernetes' repair loops say about a finding: its events, in their words as far as they have
// words for it, and the label under which they count it. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/repairs.h"
#include "allocation/warning_events.h"
#include "audit/finding.h"

namespace berth::controllers {

/// What the events need to know beyond the finding.
struct EventFacts {
  bool records_count = true;  // False where bitmaps count. Their repair raises events of its own.
  std::string port_ranges = {};  // All ranges of node ports, such as "30000-32767".
};

/// Returns the events about a finding. Each is about one of the Services that it names. The list is
/// empty for kinds that Kubernetes does not know, and for records without a Service.
std::vector<allocation::WarningEvent> EventsOf(const audit::Finding& finding,
                                               const EventFacts& facts);

/// A record that is released because no Service holds its value.
struct ReleasedRecord {
  alloc::PoolValue value = {};
  std::string name = {};
  std::string uid = {};
  std::optional<allocation::ServiceId> service = {};  // As the record names it.
  bool service_exists = false;                        // Then it does not hold the value.
};
allocation::WarningEvent EventOf(const ReleasedRecord& record);

/// Returns the label of the finding in the metrics of Kubernetes' repair loops, such as
/// "duplicate". Empty if a finding of the kind is not counted there when it is found.
std::string_view RepairLabelOf(audit::FindingKind kind, const EventFacts& facts);

}  // namespace berth::controllers
