// What the checks need to know about a store or a cluster. The facts come from stored objects, from
// lists of an API server, or from files; the checks do not know which. Plain types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alloc/pool_id.h"
#include "alloc/range_table.h"
#include "audit/finding.h"
#include "base/uint128.h"
#include "rules/record_notes.h"

namespace berth::audit {

/// The port of a Service that a node port serves.
struct PortUse {
  std::string name = {};
  int64_t port = 0;
  std::string protocol = {};

  bool operator==(const PortUse&) const = default;
};

struct HeldValue {
  alloc::PoolValue value = {};
  bool health_check = false;
  std::vector<PortUse> ports = {};  // Of a node port.
};

struct ServiceFacts {
  ObjectRef object = {};
  std::vector<HeldValue> holds = {};  // Each value once.
};

using rules::RecordState;

struct RecordFacts {
  ObjectRef object = {};
  alloc::PoolValue value = {};
  RecordState state = RecordState::kAllocated;
  /// The Service that the record names as the one that has the value, or empty texts. A record that
  /// is not allocated may name one too. The uid is empty if the record does not note one.
  std::string service_namespace = {};
  std::string service_name = {};
  std::string service_uid = {};
  std::string reserved_for = {};  // "namespace/name"; empty if for no Service.
  /// The name of the range that the record refers to; empty if it refers to none. With
  /// rules::kServiceCidrNote before it, the name of a ServiceCIDR.
  std::string range = {};
  std::string family = {};  // As the record says, "IPv4" or "IPv6"; empty if it does not say.
  std::optional<bool> health_check = {};           // Nullopt if the record does not say.
  std::optional<std::vector<PortUse>> ports = {};  // Nullopt if the record does not say.
};

/// The counts in the status of a range. Nullopt where the status does not say.
struct RangeCounts {
  std::optional<base::U128> used = {};
  std::optional<base::U128> reserved = {};
  std::optional<base::U128> cooling = {};
};

struct RangeObjectFacts {
  ObjectRef object = {};
  std::string key = {};  // The key in the store, or another text that orders ranges.
  alloc::RangeFacts range = {};
  RangeCounts counts = {};
  bool in_force = true;  // False if bitmaps have no room for the range: nothing comes from it.
};

/// A stored bitmap: the values whose bits are set.
struct BitmapFacts {
  ObjectRef object = {};
  alloc::PoolId pool = alloc::PoolId::kIpv4;
  std::string range = {};  // As text, such as "10.96.0.0/16".
  std::vector<base::U128> values = {};
};

/// The form in which the source keeps allocations.
enum class Keeps : uint8_t {
  kRecords,
  kBitmaps,
  kBoth,           // A switch between the two is under way.
  kAddressesOnly,  // Records of addresses, and nothing that a client can see for ports: Kubernetes.
  kNothing,        // Services are all that is known.
};

}  // namespace berth::audit
