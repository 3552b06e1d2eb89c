// Finds what stands in the way when a range shall be shrunk, drained or replaced: every Service and
// every record with a value that no range would contain afterwards, and how hard each is to move.
// Pure. Answers point into the census and the cluster, which must outlive them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alloc/pool_id.h"
#include "base/result.h"
#include "inspect/census.h"
#include "inspect/question.h"

namespace berth::inspect {

/// How hard something is to move to another value.
enum class Effort : uint8_t { kEasy, kMedium, kHard };
inline constexpr size_t kEfforts = 3;
/// Returns "easy", "medium" or "hard".
std::string_view NameOf(Effort effort);

/// Why moving needs an effort, the hardest first. Several may apply to one value.
enum class Obstacle : uint8_t {
  kApiServer,      ///< default/kubernetes, which the API servers make.
  kClusterDns,     ///< Every pod knows the address of the cluster's DNS.
  kNamed,          ///< A client named the value, so it is hard-coded somewhere.
  kController,     ///< Another object owns the Service.
  kTool,           ///< A tool such as Helm deploys the Service.
  kHealthCheck,    ///< A health check port cannot be changed.
  kLoadBalancer,   ///< A new Service has a new load balancer.
  kUnknownOrigin,  ///< The source does not show whether a client named the value.
  kNodePort,       ///< Clients outside of the cluster use the port.
  kReservation,    ///< A record keeps the value.
  kOrphan,         ///< A record says that a Service has the value, but none has it.
  kPlain,          ///< The allocator picked the address.
  kDeleting,       ///< The Service is being deleted.
};
inline constexpr size_t kObstacles = 13;
std::string_view NameOf(Obstacle obstacle);
Effort EffortOf(Obstacle obstacle);
/// Returns what to do about it, in one or two sentences.
std::string_view AdviceOn(Obstacle obstacle);

/// One value that would be outside of every range.
struct Blocker {
  alloc::PoolValue value = {};
  const Service* service = nullptr;  ///< Null if only a record is in the way.
  const Held* held = nullptr;
  const Record* record = nullptr;        ///< Null if a Service is in the way.
  std::vector<Obstacle> obstacles = {};  ///< Never empty, the hardest first.

  Effort effort() const { return EffortOf(obstacles.front()); }
};

/// What the server would do if the change were made now.
enum class Outcome : uint8_t {
  kAccepted,   ///< Nothing is in the way.
  kRefused,    ///< Berth refuses it.
  kWaits,      ///< Kubernetes accepts the deletion of a ServiceCIDR, which then waits.
  kUnchecked,  ///< Kubernetes does not check node ports when a flag changes.
};
std::string_view NameOf(Outcome outcome);

struct BlockersQuestion {
  std::string range = {};  ///< A CIDR, a port range or the name of a range.
  /// The ranges that replace it, at most one of each family; may be empty.
  std::vector<std::string> to = {};
};

struct Blockers {
  std::optional<WrittenRange> to = {};
  std::string title = {};              ///< "kubernetes 10.96.0.0/16", or the values.
  std::vector<RangeRef> leaving = {};  ///< The ranges that would go, or lose values.
  /// Services first, ordered by namespace, name and value, then records by value.
  std::vector<Blocker> blockers = {};
  uint64_t values_in_use = 0;  ///< In the range, blocking or not.
  uint64_t services = 0;       ///< Different ones of the blockers.
  uint64_t records = 0;        ///< Of the blockers.
  /// Records in the range that no range would contain, but that do not stop Kubernetes.
  uint64_t left_behind = 0;
  std::array<uint64_t, kEfforts> by_effort = {};
  alloc::PoolId pool = alloc::PoolId::kIpv4;
  bool whole = true;  ///< False if a range would only lose a part.
  /// The ServiceCIDR that has these values beside those that were asked for, or empty. It can only
  /// leave as a whole.
  std::string leaves_with = {};
  /// The API servers of Kubernetes make the ServiceCIDR again when it is gone, from their flag.
  bool made_again = false;
  Outcome outcome = Outcome::kAccepted;
};

/// Returns the blockers. A value that another range contains is not in the way. If an object with
/// two families would leave, both are answered, also if only one of them gets another range.
///
/// Fails with kInvalid if the question cannot be read, and with kNotFound if no range is meant.
base::Result<std::vector<Blockers>> FindBlockers(const Census& census,
                                                 const BlockersQuestion& question);

/// Returns whether Berth serves the range. Where the source does not tell, the kind of the object
/// does.
bool IsOfBerth(const Cluster& cluster, const RangeRef& range);

/// Returns what blocks the replacement of a range by others, at most one of each family. If the
/// object of the range has two families, both are answered, the given range first.
std::vector<Blockers> FindBlockersOf(const Census& census, const RangeRef& range,
                                     const std::vector<WrittenRange>& to);

}  // namespace berth::inspect
