// IPAddresses of allocation.berth.io: another view of the IPAddresses of networking.k8s.io, which
// are what is stored. The name is the address as a decimal number, and what the server notes of the
// record (record_notes.h) is spec and status. Whoever creates one reserves the address; nobody
// changes one here.
//
// Addresses of ::/96 and ::ffff:0:0/96 have no name here, so they are not seen in this view: the
// number of the first is that of an IPv4 address, the second are IPv4 addresses written otherwise.
//
// Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "codec/value.h"
#include "rules/field_error.h"
#include "rules/table.h"

namespace berth::rules {

/// What a reservation belongs to: a range of this group.
inline constexpr std::string_view kAllocationGroup = "allocation.berth.io";
inline constexpr std::string_view kIpRangeKindName = "IPRange";
inline constexpr std::string_view kIpRangesResource = "ipranges";

/// What a record of that range belongs to unless a Service has it: `parentRef` of an IPAddress of
/// networking.k8s.io. `range` is as noted.
codec::Value ParentRange(std::string_view range);

/// "174063626" is "10.96.0.10", and back. Nothing: no address has that name.
std::optional<std::string> AddressOfName(std::string_view name);
std::optional<std::string> NameOfAddress(std::string_view address);

/// What is wrong with one that somebody sends, in the fields of this view.
FieldErrors ValidateAllocatedAddress(const codec::Value& shown);

/// A valid one as it is stored if it is new: with its notes as internal annotations, others than
/// these left out. What only the registry knows is missing and must be filled in: the range if none
/// was named (in the notes, and as the name of spec.parentRef), since when, and until when a hold
/// lasts.
codec::Value AllocatedAddressToStored(const codec::Value& shown);

/// Whether `next` says in spec and metadata what `old` says; then it gets the spec of that. Both
/// are stored ones with their notes.
bool RepeatsAllocatedAddress(codec::Value& next, const codec::Value& old);

/// A stored one, with its internal annotations, as it is shown.
codec::Value AllocatedAddressFromStored(const codec::Value& stored);

/// As a row of a table.
std::span<const Column> AllocatedAddressColumns();
codec::Array AllocatedAddressCells(const codec::Value& shown, base::WallTime now);

}  // namespace berth::rules
