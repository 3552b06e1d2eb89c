// The parts of a Service's validation, each one group of fields. Internal.
#pragma once

#include <set>
#include <string_view>

#include "codec/value.h"
#include "rules/field_error.h"

namespace berth::rules {

/// Each port by itself.
void CheckPorts(FieldErrors& errors, const codec::Value& service);

/// Node ports against the type, and ports against each other.
void CheckPortsTogether(FieldErrors& errors, const codec::Value& service);

/// What an update may not do to addresses and families once they are set.
void CheckAddressesKept(FieldErrors& errors, const codec::Value& service, const codec::Value& old);

/// An address in a field that takes what it always took; a value of the old list is fine.
void CheckAddress(FieldErrors& errors, const Path& path, std::string_view text,
                  const std::set<std::string_view>& old);

}  // namespace berth::rules
