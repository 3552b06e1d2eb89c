// How an address or a port is reserved through allocation.berth.io: for whom, for how long, and of
// which range. The same for both kinds. Pure.
#pragma once

#include <string_view>

#include "codec/value.h"
#include "rules/field_error.h"

namespace berth::rules {

/// `spec.reservedFor` and `spec.holdSeconds`.
void ValidateReservation(FieldErrors& errors, const codec::Value& object);

/// Pending if it is held for a while, Reserved if without an end.
std::string_view ReservedStateOf(const codec::Value& object);

/// What a reference to a range refers to.
struct RangeTarget {
  std::string_view group;
  std::string_view kind;
};

/// A reference to a range by its name alone gets group and kind. `field` is a member of `spec`.
void FillRangeReference(codec::Value& object, std::string_view field, const RangeTarget& target);
void ValidateRangeReference(FieldErrors& errors, const codec::Value& object, std::string_view field,
                            const RangeTarget& target);

}  // namespace berth::rules
