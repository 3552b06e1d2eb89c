// What the model test of Services knows of a store: the Services and the records of values, read
// from the stored bytes, and the ranges that values come from. A world is what one revision shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codec/value.h"
#include "registry/kinds.h"
#include "store/types.h"

namespace berth::model {

enum class Type : uint8_t { kClusterIp, kNodePort, kLoadBalancer, kExternalName };
std::string_view TypeText(Type type);

struct Port {
  std::string name = {};
  int64_t port = 80;
  std::string protocol = "TCP";
  int64_t node = 0;  // 0: none; below 0, in what is expected: any, the same for equal ones.

  bool operator==(const Port&) const = default;
};

/// "*" as an address, in what is expected: any.
inline constexpr std::string_view kAny = "*";
inline constexpr int64_t kAnyHealth = -1;

/// What matters of a Service: as a client sends it, or as it is stored. Empty: not given.
struct Service {
  Type type = Type::kClusterIp;
  bool selector = false;
  std::string policy = {};
  std::vector<std::string> families = {};
  std::vector<std::string> ips = {};  // {"None"}: headless.
  std::vector<Port> ports = {};
  std::optional<bool> lb_ports = {};  // allocateLoadBalancerNodePorts
  std::string traffic = {};           // externalTrafficPolicy
  int64_t health = 0;
  std::set<std::string> finalizers = {};
  bool ingress = false;    // In its status.
  std::string label = {};  // Which request wrote it.
  // As stored only.
  bool deleting = false;
  std::string uid = {};

  bool IsHeadless() const { return ips == std::vector<std::string>{"None"}; }
  bool IsExternalName() const { return type == Type::kExternalName; }
  bool HasAddresses() const { return !IsExternalName() && !IsHeadless(); }
  bool HasNodePorts() const { return type == Type::kNodePort || type == Type::kLoadBalancer; }
  bool NeedsNodePorts() const {
    return type == Type::kNodePort || (type == Type::kLoadBalancer && lb_ports.value_or(true));
  }
  bool NeedsHealth() const { return type == Type::kLoadBalancer && traffic == "Local"; }
  /// Made through its status: it has no addresses though it should.
  bool IsHollow() const { return HasAddresses() && ips.empty(); }

  /// Addresses and numbers that are its own, as texts.
  std::set<std::string> Held() const;

  bool operator==(const Service&) const = default;
};

std::string ToText(const Service& service);

/// Into an object of the API, which may hold other things already.
void WriteInto(codec::Value& object, const Service& service);
Service FromValue(const codec::Value& object);

/// Who a value belongs to. `chosen` is empty when a person made it.
struct Record {
  std::string name_space = {};
  std::string name = {};
  std::string uid = {};
  std::string chosen = {};
  std::string purpose = {};

  bool operator==(const Record&) const = default;
};

/// The values of one kind that can be given out, in order; the first `band` of them are kept for
/// those who ask for them.
struct Pool {
  std::vector<std::string> values;
  size_t band = 0;

  bool Has(const std::string& value) const;
  bool IsStatic(const std::string& value, bool has_band) const;
};

enum class PoolOf : uint8_t { kIpv4, kIpv6, kPorts };
inline constexpr PoolOf kAllPools[] = {PoolOf::kIpv4, PoolOf::kIpv6, PoolOf::kPorts};

/// The ranges of a run. A /27 is 27, a /123 is 123; 0: there is none.
struct Ranges {
  std::vector<std::string> families = {};  // The default one first.
  int bits_v4 = 27;
  int bits_v6 = 123;
  int64_t first_port = 30000;
  int64_t last_port = 30023;

  std::vector<std::string> Cidrs() const;
  std::string PortText() const;
};

class Cluster {
 public:
  explicit Cluster(Ranges ranges);

  const Ranges& ranges() const { return ranges_; }
  const Pool& At(PoolOf pool) const { return pools_[static_cast<size_t>(pool)]; }
  const Pool& Of(const std::string& family) const {
    return At(family == "IPv6" ? PoolOf::kIpv6 : PoolOf::kIpv4);
  }

 private:
  Ranges ranges_;
  Pool pools_[3];
};

std::string FamilyOf(const std::string& address);

struct StoredService {
  Service service = {};
  int64_t revision = 0;
};

struct World {
  std::map<std::string, std::shared_ptr<const StoredService>> services;  // By name.
  std::map<std::string, Record> records;                                 // By value.
  int64_t revision = 0;

  const StoredService* Find(const std::string& name) const;
  size_t Free(const Pool& pool) const;
  /// Of those that are given to who does not ask for one.
  size_t FreeDynamic(const Pool& pool, bool has_band) const;
};
using WorldPtr = std::shared_ptr<const World>;

/// The world after these events.
World Apply(const World& world, const std::vector<store::EventPtr>& events,
            const registry::Kinds& kinds);

/// Empty: each value of a Service has one record that names it, each record that was made for a
/// Service has one Service, and nothing is outside its range.
std::string CheckWorld(const World& world, const Cluster& cluster);

}  // namespace berth::model
