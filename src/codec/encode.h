// Canonical objects (see decode.h) to JSON as Kubernetes writes it: members in Go's order,
// with Go's rules for omitting empty fields, and Go's escapes. Pure functions, safe from
// any thread. Writing never fails. Members that the message does not know, or that have
// another type, are not written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/schema.h"
#include "base/result.h"
#include "codec/decode.h"
#include "codec/value.h"

namespace berth::codec {

/// The JSON text of an object whose metadata.resourceVersion is not known yet:
///
///   {"kind":"Service","apiVersion":"v1","metadata":{...,"resourceVersion":"","generation":1,...
///                                       ^ metadata_at                    ^ version_at
///
/// The object's own version is not written. An item of a list, which has no kind, is "{" and the
/// text from metadata_at on. The `managed_size` bytes at `managed_at` can be left out: they are
/// `,"managedFields":[...]`, always after the version.
struct WireJson {
  std::string text;
  uint32_t metadata_at = 0;
  uint32_t version_at = 0;  // 0 if the message has no ObjectMeta.
  uint32_t managed_at = 0;
  uint32_t managed_size = 0;  // 0 if the object has no managed fields.

  bool operator==(const WireJson&) const = default;
};

/// Encodes an object whose `metadata` is an ObjectMeta.
WireJson EncodeJson(const Value& canonical, const api::Message& message, const Identity& identity);

/// Encodes any message with its resourceVersion unchanged: a Status, or a part of an object.
std::string EncodeMessage(const Value& canonical, const api::Message& message,
                          const Identity& identity = {});

inline constexpr std::string_view kManagedFields = "managedFields";

inline constexpr uint32_t kAllMembers = 0xFFFF'FFFF;

struct DocumentStyle {
  bool managed_fields = true;  // Includes metadata.managedFields, often most of the text.
  /// The fields of the object itself to include: one bit for each, by position.
  uint32_t members = kAllMembers;
};

/// Returns the content of EncodeMessage as a tree, for WriteYaml, indented JSON and patches.
Value ToDocument(const Value& canonical, const api::Message& message, const Identity& identity = {},
                 const DocumentStyle& style = {});

/// Decodes WireJson::text, with or without a version in it. An Error means
/// that `text` is something else.
base::Result<Value> DecodeWire(std::string_view text, const api::Message& message);

/// Appends `text` with its quotes as Go's JSON encoder does: <, > and & are escaped.
void AppendGoJsonString(std::string& out, std::string_view text);

}  // namespace berth::codec
