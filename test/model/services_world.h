// What the model test of Services knows about a store: the Services and the records of values, read
// from the stored bytes, and the ranges that values come from. A world is the state at one
// revision.
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

#include "allocation/claims/allocation_form.h"
#include "codec/value.h"
#include "model/services_ranges.h"
#include "registry/kind_rows.h"
#include "store/types.h"

namespace berth::model {

enum class Type : uint8_t { kClusterIp, kNodePort, kLoadBalancer, kExternalName };
std::string_view TypeText(Type type);

struct Port {
  std::string name = {};
  int64_t port = 80;
  std::string protocol = "TCP";
  int64_t node = 0;  // 0 means none. If expected, below 0 means any; equal ones match.

  bool operator==(const Port&) const = default;
};

/// As an expected address, "*" means any.
inline constexpr std::string_view kAny = "*";
inline constexpr int64_t kAnyHealth = -1;

/// The relevant fields of a Service, as a client sends it or as it is stored. Empty means not set.
struct Service {
  Type type = Type::kClusterIp;
  bool selector = false;
  std::string policy = {};
  std::vector<std::string> families = {};
  std::vector<std::string> ips = {};  // {"None"} means headless.
  std::vector<Port> ports = {};
  std::optional<bool> lb_ports = {};  // allocateLoadBalancerNodePorts
  std::string traffic = {};           // externalTrafficPolicy
  int64_t health = 0;
  std::set<std::string> finalizers = {};
  bool ingress = false;    // In its status.
  std::string label = {};  // The request that wrote it.
  // Only in stored Services.
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
  /// Returns whether it was created through its status, so that it lacks addresses that it should
  /// have.
  bool IsHollow() const { return HasAddresses() && ips.empty(); }

  /// Returns the addresses and numbers that it holds, as texts.
  std::set<std::string> Held() const;

  bool operator==(const Service&) const = default;
};

std::string ToText(const Service& service);

/// Writes the Service into an object of the API, which may already have other contents.
void WriteInto(codec::Value& object, const Service& service);
Service FromValue(const codec::Value& object);

/// The record of a value: the Service that has it, or the one it is kept for.
struct Record {
  enum class State : uint8_t { kAllocated, kReserved, kPending, kCooling };

  State state = State::kReserved;
  std::string name_space = {};  // Namespace of the Service, or of what a user names instead.
  std::string name = {};
  std::string uid = {};
  std::string chosen = {};
  std::string purpose = {};           // Of a port.
  std::set<std::string> uses = {};    // The ports of the Service that use it.
  bool by_hand = false;               // Created through networking.k8s.io.
  std::string reserved_for = {};      // Name of a Service; set also while that Service has it.
  std::optional<int64_t> until = {};  // In seconds, for one that is held or cools down.

  bool operator==(const Record&) const = default;
};
std::string ToText(const Record& record);

/// The ranges that a run starts with. A /27 is 27, a /123 is 123.
struct Ranges {
  std::vector<std::string> families = {};  // The default one first.
  int bits_v4 = 27;
  int bits_v6 = 123;
  int64_t first_port = 30000;
  int64_t last_port = 30023;

  std::vector<std::string> Cidrs() const;
  std::string PortText() const;
  Cluster::Specs ToSpecs() const;
};

/// The form in which the store keeps allocations.
struct Form {
  allocation::AllocationForm form = allocation::AllocationForm::kRecords;
  bool removing = false;

  bool BitmapsCount() const { return allocation::BitmapsCount(form); }
  /// Whether records and ranges can be written.
  bool IsRecords() const { return form == allocation::AllocationForm::kRecords; }

  bool operator==(const Form&) const = default;
};

struct StoredService {
  Service service = {};
  int64_t revision = 0;
};

struct World {
  std::map<std::string, std::shared_ptr<const StoredService>> services;  // By name.
  std::map<std::string, Record> records;                                 // By value.
  std::shared_ptr<const Cluster> cluster = std::make_shared<const Cluster>();
  std::set<std::string> cidrs;  // Of the ServiceCIDR `kubernetes`.
  std::set<PoolOf> closed;      // Pools whose fence is closed.
  Form form;
  std::map<std::string, std::set<std::string>> bits;  // By the key of the bitmap.
  std::set<std::string> taken_bits;                   // Of all bitmaps.
  int64_t revision = 0;

  const StoredService* Find(const std::string& name) const;
  const Record* RecordOf(const std::string& value) const;
  /// Returns whether the value is taken, reserved, held or cooling.
  bool IsHeld(const std::string& value) const;
  /// Returns whether the value can be given to a Service that does not name it.
  bool IsPickable(const std::string& value, bool has_band) const {
    return !IsHeld(value) && cluster->IsPickable(value, has_band);
  }
  size_t Pickable(PoolOf pool, bool has_band) const;
  /// Return the free values of one range, without its static band and with it.
  size_t FreeDynamic(const Range& range, bool has_band) const;
  size_t Pickable(const Range& range, bool has_band) const;
  /// Returns the values of the pool that are kept for the Service and available.
  std::set<std::string> KeptFor(const std::string& name, PoolOf pool) const;
};
using WorldPtr = std::shared_ptr<const World>;

/// Returns the world after these events.
World Apply(const World& world, const std::vector<store::EventPtr>& events,
            const registry::Kinds& kinds);

/// Returns "" if the world is consistent, or a description of the fault. Each value of a Service
/// has one record that names it (or a bit, if bitmaps count). Each record is true, nothing is
/// outside of all ranges, and one range is primary.
std::string CheckWorld(const World& world);

/// Returns the last part of a key.
inline std::string NameIn(const std::string& key) { return key.substr(key.rfind('/') + 1); }

}  // namespace berth::model
