// IPAddresses of networking.k8s.io: an address that is taken, and by whom. Anybody may make one and
// so keep the address from Services. No defaults, no status. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "codec/value.h"
#include "rules/field_error.h"
#include "rules/record_notes.h"  // IWYU pragma: export

namespace berth::rules {

FieldErrors ValidateIpAddressCreate(const codec::Value& address);
FieldErrors ValidateIpAddressUpdate(const codec::Value& address, const codec::Value& old);

/// The Service that it belongs to, if it says that it belongs to one. There need not be one of that
/// name. Valid until the object changes.
struct ServiceName {
  std::string_view name_space;
  std::string_view name;
};
std::optional<ServiceName> ParentService(const codec::Value& address);

/// Kubernetes' allocator marks what it makes with this label.
inline constexpr std::string_view kManagedByLabel = "ipaddress.kubernetes.io/managed-by";
inline constexpr std::string_view kAllocatorName = "ipallocator.k8s.io";

/// The hidden text of an address without notes: allocated, if a kube-apiserver made it for a
/// Service.
std::string AssumedNotes(const codec::Value& address);

/// Whether a Service has that address, however it is written there.
bool HasClusterIp(const codec::Value& service, std::string_view address);

/// Why the record of an address that the Service has cannot be deleted, and what to do instead.
std::string HeldByService(const codec::Value& service);

}  // namespace berth::rules
