// Finds the fields that two states of an object differ in. Pure; safe from any thread.
#pragma once

#include <span>
#include <string_view>

#include "api/schema.h"
#include "codec/value.h"
#include "merge/field_set.h"
#include "merge/field_types.h"

namespace berth::merge {

/// A new struct, map or list is in `changed` together with all its contents. One that no longer
/// exists is in `removed`. One that only became empty is in neither.
struct Comparison {
  FieldSet changed;  // New, or with another value.
  FieldSet removed;  // No longer present.
};

struct CompareOptions {
  Layout layout = Layout::kCanonical;
  std::span<const std::string_view> skip = {};  // Top-level fields to ignore.
};

/// Both must be objects of `message`.
Comparison Compare(const codec::Value& before, const codec::Value& after,
                   const api::Message& message, const CompareOptions& options);

}  // namespace berth::merge
