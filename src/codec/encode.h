// Canonical objects (see decode.h) to JSON as Kubernetes writes it: members in Go's order, with
// Go's rules for leaving out what is empty and Go's escapes. Pure functions, safe from any thread;
// writing never fails. What a Value holds beyond its message, or of another type, is not written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/schema.h"
#include "base/result.h"
#include "codec/decode.h"
#include "codec/value.h"

namespace berth::codec {

/// The JSON text of an object whose metadata.resourceVersion is still to come:
///
///   {"kind":"Service","apiVersion":"v1","metadata":{...,"resourceVersion":"","generation":1,...
///                                       ^ metadata_at                    ^ version_at
///
/// Whatever version the object itself had is not written. An item of a list, which carries no kind,
/// is "{" and the text from metadata_at on. What managed_at and managed_size enclose can be left
/// out: `,"managedFields":[...]`, always behind the version.
struct WireJson {
  std::string text;
  uint32_t metadata_at = 0;
  uint32_t version_at = 0;  // 0 if the message has no ObjectMeta.
  uint32_t managed_at = 0;
  uint32_t managed_size = 0;  // 0 if the object has no managed fields.

  bool operator==(const WireJson&) const = default;
};

/// An object whose `metadata` is an ObjectMeta.
WireJson EncodeJson(const Value& canonical, const api::Message& message, const Identity& identity);

/// `wire` with the version put in.
std::string WithVersion(const WireJson& wire, std::string_view version);

/// Any message, resourceVersion as it stands: a Status, or a part of an object.
std::string EncodeMessage(const Value& canonical, const api::Message& message,
                          const Identity& identity = {});

inline constexpr std::string_view kManagedFields = "managedFields";

inline constexpr uint32_t kAllMembers = 0xFFFF'FFFF;

struct DocumentStyle {
  bool managed_fields = true;  // Whether metadata.managedFields is in it, most of many a text.
  /// Which fields of the object itself are in it: a bit for each, by their position.
  uint32_t members = kAllMembers;
};

/// The same content as EncodeMessage as a tree, for WriteYaml, indented JSON and patches.
Value ToDocument(const Value& canonical, const api::Message& message, const Identity& identity = {},
                 const DocumentStyle& style = {});

/// The way back from WireJson::text, with or without a version in it. An Error means that this is
/// not such a text.
base::Result<Value> DecodeWire(std::string_view text, const api::Message& message);

/// Appends text as Go's JSON encoder does, quotes included: <, > and & are escaped.
void AppendGoJsonString(std::string& out, std::string_view text);

}  // namespace berth::codec
