// What the servers of a store say about themselves in their Replica objects, as far as it decides
// what ranges give out: what they disagree about, and which changes of ranges one of them could not
// follow. A server that ended counts until its Replica is gone. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/range_status.h"
#include "allocation/range_world.h"
#include "allocation/records.h"
#include "base/error.h"
#include "codec/value.h"
#include "ip/addr.h"
#include "state/snapshot.h"

namespace berth::allocation {

/// The gates by their names, as Replicas and flags say them.
inline constexpr std::string_view kStaticIpsGate = "ServiceIPStaticSubrange";
inline constexpr std::string_view kStaticPortsGate = "ServiceNodePortStaticSubrange";
inline constexpr std::string_view kLbNodePortsGate = "ServiceLBNodePortControl";
inline constexpr std::string_view kDualStackGate = "IPv6DualStack";
/// The capability of servers that follow changes of ranges while they run.
inline constexpr std::string_view kRangesCapability = "ranges";

struct ReplicaInfo {
  std::string name = {};
  std::string version = {};
  /// Each gate: "true" or "false". Each capability that it has, as "capability X": "true".
  std::map<std::string, std::string, std::less<>> traits = {};
};

/// Returns the replicas of the snapshot, in the order of their names. One that cannot be decoded is
/// left out.
std::vector<ReplicaInfo> ReplicasIn(const RecordRows& rows, const state::Snapshot& snapshot);

/// What the replicas disagree about.
class ReplicaSkew {
 public:
  ReplicaSkew() = default;
  explicit ReplicaSkew(const std::vector<ReplicaInfo>& replicas);

  /// Returns the traits of a replica in which it differs from another one: "IPv6DualStack=false".
  std::vector<std::string> Of(std::string_view replica) const;
  /// Returns what is to be said about a range: an empty fault if the replicas give out the same of
  /// it, or nothing. `families` are those that Services can get, the default one first.
  RangeFault About(const RangeState& state, const codec::Value& range,
                   const std::vector<ip::Family>& families) const;

  bool operator==(const ReplicaSkew&) const = default;

 private:
  using Names = std::vector<std::string>;
  /// By trait and value: the replicas that have it. Only traits with several values.
  std::map<std::string, std::map<std::string, Names>, std::less<>> differing_ = {};
};

/// What a change of a range needs of each replica, beside the gate of a static band that it asks
/// for.
struct RangeNeeds {
  bool ranges = false;         // That it follows changes of ranges.
  bool second_family = false;  // That it gives out two families.
};
/// Returns the error that names a replica that could not follow the change, or nullopt if all can.
std::optional<base::Error> FindUnable(const RangeEdit& edit, const RangeNeeds& needs,
                                      const std::vector<ReplicaInfo>& replicas);

}  // namespace berth::allocation
