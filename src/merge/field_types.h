// What server-side apply must know of a field, from the tables of api: whether managers own it as a
// whole or part by part, and what tells the entries of a list apart. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "api/kinds.h"
#include "api/schema.h"
#include "codec/value.h"
#include "merge/path_element.h"

namespace berth::merge {

struct FieldType {
  enum class Form : uint8_t { kScalar, kStruct, kMap, kList };
  Form form = Form::kScalar;
  bool atomic = false;                    // Owned as a whole; scalars always are.
  const api::Field* field = nullptr;      // Null for an object as a whole.
  const api::Message* message = nullptr;  // Of a struct.
};

FieldType ObjectType(const api::Message& message);
FieldType TypeOf(const api::Field& field);
/// Of the entries of a list or map.
FieldType EntryTypeOf(const api::Field& field);

/// How an object is laid out in memory.
enum class Layout : uint8_t {
  kDocument,   // What is there is there.
  kCanonical,  // As codec/decode.h says. Fields that JSON always carries count as there, with Go's
               // empty value.
};

/// What stands for such a field when a canonical object does not hold it.
const codec::Value& EmptyValueOf(const api::Field& field);

/// The values of a message's fields. Like codec::FieldValues, but knows layouts.
class Members {
 public:
  /// `value` null: nothing is there. Anything but an object counts as an empty one.
  Members(const codec::Value* value, const api::Message& message, Layout layout);

  /// Null if it is not there. `position` is that of the field in its message.
  const codec::Value* At(size_t position) const { return values_[position]; }

 private:
  std::array<const codec::Value*, api::kMaxFields> values_{};
};

/// The element that names an entry of a list which is not atomic. A key that the entry lacks is its
/// default or, if it has none, left out.
PathElement EntryElement(const api::Field& list, const codec::Value& entry, Layout layout);

/// The fields right inside an object that a write through this door never changes, so that nobody
/// comes to own them by it: `status`, or through the status subresource `spec`.
std::span<const std::string_view> ResetFields(const api::Kind& kind, std::string_view subresource);

}  // namespace berth::merge
