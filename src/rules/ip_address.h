// IPAddresses of networking.k8s.io: an address that is taken, and its owner. A client may create
// one to keep the address from Services. The kind has no defaults and no status. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "codec/value.h"
#include "ip/addr.h"
#include "rules/field_error.h"
#include "rules/record_notes.h"  // IWYU pragma: export

namespace berth::rules {

FieldErrors ValidateIpAddressCreate(const codec::Value& address);
FieldErrors ValidateIpAddressUpdate(const codec::Value& address, const codec::Value& old);

/// Returns the Service that an address names as its parent, or nullopt if it names none. A Service
/// of that name need not exist. The result is valid until the object changes.
struct ServiceName {
  std::string_view name_space;
  std::string_view name;
};
std::optional<ServiceName> ParentService(const codec::Value& address);

/// Returns the parent as kubectl shows it: "services/default/web", "widgets.example.com/web", or
/// "<none>".
std::string ParentText(const codec::Value& address);

/// Returns the address that is the name of a record, or nullopt if the name is not one. Names are
/// canonical, so the parser is a lenient one, which is much faster.
std::optional<ip::Addr> ReadAddressName(std::string_view name);

/// The label with the family of an address, "IPv4" or "IPv6".
inline constexpr std::string_view kIpFamilyLabel = "ipaddress.kubernetes.io/ip-family";
/// Kubernetes' allocator marks the objects that it creates with this label.
inline constexpr std::string_view kManagedByLabel = "ipaddress.kubernetes.io/managed-by";
inline constexpr std::string_view kAllocatorName = "ipallocator.k8s.io";

/// Returns the hidden text to assume for an address without notes. It says "allocated" if a
/// kube-apiserver created the address for a Service.
std::string AssumedNotes(const codec::Value& address);

/// Returns whether a Service has that address, in whatever notation the Service writes it.
bool HasClusterIp(const codec::Value& service, std::string_view address);

/// Returns why the record of an address that the Service has cannot be deleted, and what to do
/// instead.
std::string HeldByService(const codec::Value& service);

}  // namespace berth::rules
