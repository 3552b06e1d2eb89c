// Renders objects in the format that a client asked for: as they are, as a row of a Table, or as
// their metadata alone; in JSON, YAML or Kubernetes protobuf. The most common case, the stored
// object in compact JSON, needs no decoding: the snapshot has its bytes.
//
// Pure; the time is passed in. Any thread may call.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "codec/value.h"
#include "registry/hooks.h"
#include "registry/kind_rows.h"
#include "server/accept.h"
#include "state/object.h"

namespace berth::server {

/// How much of an object the row of a Table contains.
enum class IncludeObject : uint8_t { kMetadata, kNone, kObject };

/// How a client asked to see objects: which view of the kind, in which media type, and as objects,
/// as a Table or as metadata.
struct ResponseFormat {
  registry::Served served = {};
  /// The hooks of the kind, which correct what objects say about others. Never null.
  const registry::KindHooks* hooks = nullptr;
  Media media = Media::kJson;
  Transform transform = Transform::kNone;
  std::string_view transform_version = "v1";
  IncludeObject include = IncludeObject::kMetadata;
  bool pretty = false;

  /// Returns whether the snapshot's bytes can be sent as they are, if they are still right
  /// (KindHooks::IsFresh).
  bool IsPlain() const {
    return served.IsStoredForm() && media == Media::kJson && transform == Transform::kNone &&
           !pretty;
  }
  /// Returns a number by which watches of one kind share frames: formats with equal numbers render
  /// the same bytes.
  uint32_t Id() const;
};

/// Returns the Content-Type, such as "application/json".
std::string_view ContentType(const ResponseFormat& format);
/// Returns the Content-Type of a watch, which differs for protobuf.
std::string_view WatchContentType(const ResponseFormat& format);

/// Renders one object. `revision` is the object's last revision, or that of its deletion. JSON and
/// YAML end with a newline.
std::string RenderObject(const ResponseFormat& format, const state::Object& object,
                         int64_t revision, base::WallTime now);

/// Renders a document in the format's media type, with a newline at the end. In protobuf the
/// document must be a Status, the only document that can be encoded without its kind.
std::string RenderDocument(const ResponseFormat& format, const codec::Value& document);

struct ListMeta {
  int64_t revision = 0;
  std::string continue_token = {};
  int64_t remaining = -1;  // Negative if the client is not to see it.
};

/// The parts of a list: its beginning, the items one by one, the separator between two items, and
/// its end. Only for protobuf and for JSON without indentation; RenderList renders the other
/// formats. `items_bytes` is the size of all items together, which the beginning of a list in
/// protobuf contains. It is not used for JSON.
std::string ListHead(const ResponseFormat& format, const ListMeta& meta, size_t items_bytes);
void AppendItem(const ResponseFormat& format, const state::Object& object, base::WallTime now,
                std::string& out);
std::string_view ListSeparator(const ResponseFormat& format);
std::string ListTail(const ResponseFormat& format, const ListMeta& meta);

/// Returns how many bytes AppendItem appends for all objects, without keeping these bytes.
size_t ItemsBytes(const ResponseFormat& format, std::span<const state::ObjectPtr> objects,
                  base::WallTime now);

/// Renders a whole list in any format.
std::string RenderList(const ResponseFormat& format, const ListMeta& meta,
                       std::span<const state::ObjectPtr> objects, base::WallTime now);

/// Renders one event of a watch, with its newline (JSON) or its length (protobuf). `type` is ADDED,
/// MODIFIED or DELETED. If `first`, a Table contains its column definitions.
std::string RenderEvent(const ResponseFormat& format, std::string_view type,
                        const state::Object& object, int64_t revision, bool first,
                        base::WallTime now);
/// Renders a bookmark at a revision. `initial_end` marks the end of the initial events.
std::string RenderBookmark(const ResponseFormat& format, int64_t revision, bool initial_end);
/// Renders the last event of a watch that cannot continue.
std::string RenderErrorEvent(const ResponseFormat& format, const base::Error& error);

}  // namespace berth::server
