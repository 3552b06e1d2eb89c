// The view of a cluster that all questions are asked of: its Services with what they hold, its
// records, its ranges, and what the source does not show. It comes from an API server, from files
// or from a store at rest (`cluster_reader.h`). Plain types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alloc/pool_id.h"
#include "audit/facts.h"
#include "base/clock.h"

namespace berth::inspect {

/// How a Service came to a value. Managed fields tell: a client that named the value owns the
/// field. They are evidence, not proof, because an admission webhook may have put another value
/// there.
enum class Origin : uint8_t {
  kUnknown,  ///< The source shows no managed fields.
  kNamed,    ///< A client asked for this value.
  kDrawn,    ///< The allocator picked it.
};

struct Held {
  alloc::PoolValue value = {};
  bool health_check = false;
  std::vector<audit::PortUse> ports = {};  ///< Of a node port.
  Origin origin = Origin::kUnknown;
  std::string manager = {};  ///< The field manager that named the value, if one did.
};

struct Service {
  audit::ObjectRef object = {};
  std::string type = {};                       ///< "ClusterIP" and so on.
  std::optional<base::WallTime> created = {};  ///< Nullopt if the source does not say.
  bool deleting = false;                       ///< It has a deletion timestamp.
  std::string controller = {};                 ///< "Gateway shop/web" if another object owns it.
  std::string tool = {};                       ///< "Helm release web", "Argo CD", ... if known.
  std::string labels = {};                     ///< "app=web,tier=front", by key.
  std::vector<Held> holds = {};                ///< Each value once.
};

struct Record {
  audit::RecordFacts facts = {};
  std::optional<base::WallTime> since = {};  ///< Since when it is in its state.
  std::optional<base::WallTime> until = {};  ///< When it ends by itself, if it does.
  std::string managed_by = {};               ///< Kubernetes' label: the controller that made it.
  /// The parent of an address that is reserved by hand: "gateways.example.com/shop/web". Else
  /// empty.
  std::string parent = {};
};

/// A range and how it is known.
struct Range {
  audit::RangeObjectFacts facts = {};
  /// Where it was found: "ServiceCIDR kubernetes", "/flagz of the API server", "--node-port-range".
  std::string source = {};
  bool exact = true;   ///< False if the source only suggests it. `source` then says why.
  bool given = false;  ///< No object of the cluster has it: it comes from a flag or is assumed.
};

/// Which program serves the API, or kept the store.
enum class ServerKind : uint8_t { kUnknown, kKubernetes, kBerth };

/// Something that the view lacks, and what to do about it.
struct Gap {
  std::string what = {};    ///< "IPAddresses are not shown", a sentence without a full stop.
  std::string advice = {};  ///< "allow list on ipaddresses.networking.k8s.io"; may be empty.

  bool operator==(const Gap&) const = default;
};

struct Cluster {
  std::string source =
      {};  ///< "https://10.0.0.1:6443", "services.json", "embedded:/var/lib/berth".
  ServerKind server = ServerKind::kUnknown;
  std::string version = {};  ///< Of the server, "v1.36.4"; may be empty.
  /// The namespace that kubectl would use there; empty if the source is no running cluster.
  std::string name_space = {};
  audit::Keeps keeps = audit::Keeps::kNothing;
  base::WallTime read_at = {};
  int64_t revision = 0;                ///< 0 if the source does not know it.
  std::vector<Service> services = {};  ///< Ordered by namespace and name.
  bool some_services = false;          ///< The user may not see all of them.
  std::vector<Record> records = {};    ///< Ordered by pool and value.
  std::vector<Range> ranges = {};      ///< In the order of their keys.
  std::vector<Gap> gaps = {};
};

}  // namespace berth::inspect
