// How an address or a port is reserved through allocation.berth.io: for which Service, for how
// long, and in which range. The rules are the same for both kinds. Pure.
#pragma once

#include <string_view>

#include "codec/value.h"
#include "rules/field_error.h"

namespace berth::rules {

/// Checks `spec.reservedFor` and `spec.holdSeconds`.
void ValidateReservation(FieldErrors& errors, const codec::Value& object);

/// Returns Pending if it is held for a limited time, and Reserved if the reservation has no end.
std::string_view ReservedStateOf(const codec::Value& object);

/// The type of object that a reference to a range refers to.
struct RangeTarget {
  std::string_view group;
  std::string_view kind;
};

/// Adds group and kind to a reference that has only the name of a range. `field` is a member of
/// `spec`.
void FillRangeReference(codec::Value& object, std::string_view field, const RangeTarget& target);
void ValidateRangeReference(FieldErrors& errors, const codec::Value& object, std::string_view field,
                            const RangeTarget& target);

}  // namespace berth::rules
