// Finds out which values of a Service a client named, from the managed fields: the manager that put
// a value into its request owns the field, and what the allocator filled in has no owner. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "codec/value.h"
#include "inspect/cluster.h"

namespace berth::inspect {

class NamedFields {
 public:
  /// Reads `metadata.managedFields` of a Service. Entries that cannot be read are skipped.
  explicit NamedFields(const codec::Value& service);

  /// Fills in `origin` and `manager` of everything that the Service holds.
  void Describe(const codec::Value& service, Service& into) const;

 private:
  struct Owner {
    bool known = false;
    std::string manager = {};
  };

  void ReadEntry(const codec::Value& spec, const std::string& manager);
  void Set(Held& held, const Owner* owner) const;

  bool any_ = false;  // Whether there are managed fields at all.
  Owner cluster_ip_;
  Owner cluster_ips_;
  Owner health_check_;
  std::map<std::pair<int64_t, std::string>, Owner> node_ports_;  // By port and protocol.
};

}  // namespace berth::inspect
