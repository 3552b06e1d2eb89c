// Checks like those of lint on the Services that run: values that a client named where others are
// picked from, node ports that the nodes use for something else. What `berth verify` finds is not
// repeated here. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alloc/pool_id.h"
#include "inspect/census.h"
#include "inspect/host_ports.h"
#include "inspect/top.h"
#include "ip/port_range.h"

namespace berth::inspect {

inline constexpr size_t kMostRunningItems = 100;

struct RunningItem {
  std::string message = {};  ///< A sentence without a full stop.
  std::string advice = {};   ///< May be empty.
  alloc::PoolValue value = {};
  const Service* service = nullptr;
  std::optional<RangeRef> range = {};
};

struct RunningFinding {
  std::string_view kind = {};   ///< "NamedInDynamicBand".
  std::string_view title = {};  ///< A heading.
  std::string_view why = {};    ///< Why it matters and what to do, in sentences.
  Severity severity = Severity::kNote;
  uint64_t count = 0;
  std::vector<RunningItem> items = {};  ///< The first kMostRunningItems.
};

struct RunningOptions {
  ip::PortRange ephemeral{32768, 60999};  ///< The kernel's default.
  HostPorts host_ports = UsualHostPorts();
};

/// Returns what was found, the worst first. Kinds that were not found are left out.
std::vector<RunningFinding> CheckRunning(const Census& census, const RunningOptions& options = {});

}  // namespace berth::inspect
