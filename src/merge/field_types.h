// The types of fields for server-side apply, from the tables of api: whether a field is owned as a
// whole or part by part, and what identifies the entries of a list. Pure functions.
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
  const api::Message* message = nullptr;  // For a struct.
};

FieldType ObjectType(const api::Message& message);
FieldType TypeOf(const api::Field& field);
/// Returns the type of the entries of a list or map.
FieldType EntryTypeOf(const api::Field& field);

/// The form of an object in memory.
enum class Layout : uint8_t {
  kDocument,   // Fields are present or absent as in the text.
  kCanonical,  // As codec/decode.h says. Fields that JSON always has count as
               // present, with Go's empty value.
};

/// Returns the value of such a field if a canonical object does not contain it.
const codec::Value& EmptyValueOf(const api::Field& field);

/// The values of a message's fields. Like codec::FieldValues, but with layouts.
class Members {
 public:
  /// A null `value` has no fields. A value that is not an object counts as an empty object.
  Members(const codec::Value* value, const api::Message& message, Layout layout);

  /// Returns null if the field is absent. `position` is that of the field in its message.
  const codec::Value* At(size_t position) const { return values_[position]; }

 private:
  std::array<const codec::Value*, api::kMaxFields> values_{};
};

/// Returns the element of an entry in a list that is not atomic. A key that the entry lacks has its
/// default value, or is left out if there is no default.
PathElement EntryElement(const api::Field& list, const codec::Value& entry, Layout layout);

/// Returns the top-level fields that a write through this subresource never changes, so that the
/// writer does not come to own them: `status`, or `spec` for the status subresource.
std::span<const std::string_view> ResetFields(const api::Kind& kind, std::string_view subresource);

}  // namespace berth::merge
