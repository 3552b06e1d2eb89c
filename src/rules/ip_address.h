// IPAddresses of networking.k8s.io: an address that is taken, and by whom. Anybody may make one and
// so keep the address from Services. No defaults, no status. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "codec/value.h"
#include "rules/field_error.h"

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

/// Whether a Service has that address, however it is written there.
bool HasClusterIp(const codec::Value& service, std::string_view address);

/// Why the record of an address that the Service has cannot be deleted, and what to do instead.
std::string HeldByService(const codec::Value& service);

/// Annotations that are stored with an object and that no client sees or sets have names that begin
/// with this.
inline constexpr std::string_view kInternalPrefix = "internal.allocation.berth.io/";
/// How the address was chosen: `static` by who asked for it, `dynamic` by the allocator.
inline constexpr std::string_view kChosenAnnotation = "internal.allocation.berth.io/chosen";

/// Takes the internal annotations out of an object; what they were, as text, empty if there were
/// none.
std::string TakeInternalAnnotations(codec::Value& object);
/// Puts them back.
void PutInternalAnnotations(codec::Value& object, std::string_view taken);

}  // namespace berth::rules
