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
#include "commit/allocation_form.h"
#include "model/services_ranges.h"
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

/// The record of a value: who has it, or for whom it is kept.
struct Record {
  enum class State : uint8_t { kAllocated, kReserved, kPending, kCooling };

  State state = State::kReserved;
  std::string name_space = {};  // Of the Service, or of what a person says instead.
  std::string name = {};
  std::string uid = {};
  std::string chosen = {};
  std::string purpose = {};           // Of a port, and
  std::set<std::string> uses = {};    // which ports of the Service it is for.
  bool by_hand = false;               // Made through networking.k8s.io.
  std::string reserved_for = {};      // The name of a Service; also while that has it.
  std::optional<int64_t> until = {};  // Of one that is held or cools down: seconds.

  bool operator==(const Record&) const = default;
};
std::string ToText(const Record& record);

/// The ranges that a run begins with. A /27 is 27, a /123 is 123.
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

/// In which form the store keeps allocations.
struct Form {
  commit::AllocationForm form = commit::AllocationForm::kRecords;
  bool removing = false;

  bool BitmapsCount() const { return commit::BitmapsCount(form); }
  /// Whether records and ranges can be written.
  bool IsRecords() const { return form == commit::AllocationForm::kRecords; }

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
  std::set<std::string> taken_bits;                   // Of all of them.
  int64_t revision = 0;

  const StoredService* Find(const std::string& name) const;
  const Record* RecordOf(const std::string& value) const;
  /// Whether somebody has the value, or it is kept or left alone.
  bool IsHeld(const std::string& value) const;
  /// Whether it can be given to a Service that does not ask for it.
  bool IsPickable(const std::string& value, bool has_band) const {
    return !IsHeld(value) && cluster->IsPickable(value, has_band);
  }
  size_t Pickable(PoolOf pool, bool has_band) const;
  /// Of one range, without its static band and with it.
  size_t FreeDynamic(const Range& range, bool has_band) const;
  size_t Pickable(const Range& range, bool has_band) const;
  /// Values of the pool that are kept for the Service and can be had.
  std::set<std::string> KeptFor(const std::string& name, PoolOf pool) const;
};
using WorldPtr = std::shared_ptr<const World>;

/// The world after these events.
World Apply(const World& world, const std::vector<store::EventPtr>& events,
            const registry::Kinds& kinds);

/// Empty: each value of a Service has one record that names it (or a bit, where bitmaps count),
/// each record says the truth, nothing is outside of all ranges, and one range is primary.
std::string CheckWorld(const World& world);

}  // namespace berth::model
