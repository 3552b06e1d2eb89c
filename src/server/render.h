// Objects in the form a client asked for: as they are, as a row of a Table, or as their metadata
// alone; in JSON, YAML or Kubernetes protobuf. What is asked for most, the stored form in compact
// JSON, is not decoded: its bytes are there already.
//
// Pure but for the time, which is passed in. Any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "codec/value.h"
#include "registry/kinds.h"
#include "server/accept.h"
#include "state/object.h"

namespace berth::server {

/// What of an object a Table's row carries.
enum class IncludeObject : uint8_t { kMetadata, kNone, kObject };

struct Form {
  registry::Served served = {};
  Media media = Media::kJson;
  Transform transform = Transform::kNone;
  std::string_view transform_version = "v1";
  IncludeObject include = IncludeObject::kMetadata;
  bool pretty = false;

  /// Whether the bytes of the picture will do.
  bool IsPlain() const {
    return served.IsStoredForm() && media == Media::kJson && transform == Transform::kNone &&
           !pretty;
  }
  /// Tells forms apart whose bytes differ, for frames that are shared.
  uint32_t Id() const;
};

/// "application/json" and so on; of a watch, which says so if it is not JSON.
std::string_view ContentType(const Form& form);
std::string_view WatchContentType(const Form& form);

/// One object with a revision of its own (of a deletion) or its last; text ends with a newline.
std::string RenderObject(const Form& form, const state::Object& object, int64_t revision,
                         base::WallTime now);

/// A document in the form's media type, with a newline at the end. In protobuf: a Status, of which
/// alone it is known how to write it.
std::string RenderDocument(const Form& form, const codec::Value& document);

struct ListMeta {
  int64_t revision = 0;
  std::string continue_token = {};
  int64_t remaining = -1;  // Below 0: not told.
};

/// Parts of a list: what goes before the items, the items one by one, what stands between them, and
/// what goes behind. For protobuf and for JSON that is not indented; other forms are rendered
/// whole. Protobuf says in front how many bytes the items take together: `items_bytes`, else not
/// used.
std::string ListHead(const Form& form, const ListMeta& meta, size_t items_bytes);
void AppendItem(const Form& form, const state::Object& object, base::WallTime now,
                std::string& out);
std::string_view ListSeparator(const Form& form);
std::string ListTail(const Form& form, const ListMeta& meta);

/// What AppendItem makes of all of them, without holding it.
size_t ItemsBytes(const Form& form, std::span<const state::ObjectPtr> objects, base::WallTime now);

/// The whole list, in any form.
std::string RenderList(const Form& form, const ListMeta& meta,
                       std::span<const state::ObjectPtr> objects, base::WallTime now);

/// One event of a watch, with its newline or its length. `type` is ADDED, MODIFIED or DELETED;
/// `first`: a Table carries its columns.
std::string RenderEvent(const Form& form, std::string_view type, const state::Object& object,
                        int64_t revision, bool first, base::WallTime now);
/// A bookmark at a revision; `initial_end` marks the end of the initial events.
std::string RenderBookmark(const Form& form, int64_t revision, bool initial_end);
/// The last event of a watch that cannot go on.
std::string RenderErrorEvent(const Form& form, const base::Error& error);

/// The object as a document of the form's view, before any transform.
base::Result<codec::Value> ViewDocument(const Form& form, const state::Object& object,
                                        int64_t revision);

}  // namespace berth::server
