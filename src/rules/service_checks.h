// The parts of a Service's validation, one for each group of fields. Internal.
#pragma once

#include <set>
#include <string_view>

#include "codec/value.h"
#include "rules/field_error.h"

namespace berth::rules {

/// Checks each port by itself.
void CheckPorts(FieldErrors& errors, const codec::Value& service);

/// Checks node ports against the type, and ports against each other.
void CheckPortsTogether(FieldErrors& errors, const codec::Value& service);

/// Checks that an update keeps addresses and families that are set, where it must.
void CheckAddressesKept(FieldErrors& errors, const codec::Value& service, const codec::Value& old);

/// Checks an address in a field that accepts the loose notations of old versions. A value of the
/// old list is always valid.
void CheckAddress(FieldErrors& errors, const Path& path, std::string_view text,
                  const std::set<std::string_view>& old);

}  // namespace berth::rules
