// IPAddresses of allocation.berth.io. They are another view of the IPAddresses of
// networking.k8s.io, which are what is stored. The name is the address as a decimal number. The
// server's notes about the record (record_notes.h) appear as spec and status. A client that creates
// one reserves the address. An update cannot change one.
//
// Addresses of ::/96 and ::ffff:0:0/96 have no name here, so this view does not show them. The
// number of an address in the first block is that of an IPv4 address. The second block is IPv4
// addresses written in another way.
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

/// A reservation belongs to a range of this group.
inline constexpr std::string_view kAllocationGroup = "allocation.berth.io";
inline constexpr std::string_view kIpRangeKindName = "IPRange";
inline constexpr std::string_view kIpRangesResource = "ipranges";

/// Returns the `parentRef` of an IPAddress of networking.k8s.io that belongs to a range and not to
/// a Service. `range` is the range as it is in the notes.
codec::Value ParentRange(std::string_view range);

/// Convert the name "174063626" to the address "10.96.0.10", and back. Return nullopt if no address
/// has that name, or the address has no name.
std::optional<std::string> AddressOfName(std::string_view name);
std::optional<std::string> NameOfAddress(std::string_view address);

/// Returns the errors of an object that a client sends, in terms of the fields of this view.
FieldErrors ValidateAllocatedAddress(const codec::Value& shown);

/// Returns the form in which a new valid object is stored: with its notes as internal annotations,
/// and without any other internal annotations. The registry must fill in what only it knows: the
/// range if the client named none (in the notes, and as the name of spec.parentRef), the time it
/// starts, and the time a hold ends.
codec::Value AllocatedAddressToStored(const codec::Value& shown);

/// Returns whether `next` has the same spec and metadata as `old`. If the specs are equal, `next`
/// gets the spec of `old`. Both are stored objects with their notes.
bool RepeatsAllocatedAddress(codec::Value& next, const codec::Value& old);

/// Converts a stored object, with its internal annotations, to this view.
codec::Value AllocatedAddressFromStored(const codec::Value& stored);

/// Return the columns, and the cells of one object, for a table.
std::span<const Column> AllocatedAddressColumns();
codec::Array AllocatedAddressCells(const codec::Value& shown, base::WallTime now);

}  // namespace berth::rules
