// Which fields two states of an object differ in. Pure; safe from any thread.
#pragma once

#include <span>
#include <string_view>

#include "api/schema.h"
#include "codec/value.h"
#include "merge/field_set.h"
#include "merge/field_types.h"

namespace berth::merge {

/// A struct, map or list that is new belongs to `changed` together with all that is in it, one that
/// is gone to `removed`. One that merely became empty stays what it was.
struct Comparison {
  FieldSet changed;  // New, or with another value.
  FieldSet removed;  // No longer there.
};

struct CompareOptions {
  Layout layout = Layout::kCanonical;
  std::span<const std::string_view> skip = {};  // Fields right inside the object, not looked at.
};

/// Both must be objects of `message`.
Comparison Compare(const codec::Value& before, const codec::Value& after,
                   const api::Message& message, const CompareOptions& options);

}  // namespace berth::merge
